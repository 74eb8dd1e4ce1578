import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Files can be dropped anywhere on the screen that is shown; a text that is dragged into a field is left alone. */
export function useDrop(active: boolean, onFiles: (files: FileList) => void): Signal<boolean> {
  const dragging = useSignal(false);
  useEffect(() => {
    if (!active) return;
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const over = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      dragging.value = true;
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) dragging.value = false;
    };
    const drop = (event: DragEvent) => {
      dragging.value = false;
      const files = event.dataTransfer?.files;
      if (!files?.length) return;
      event.preventDefault();
      onFiles(files);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, [active]);
  return dragging;
}
