import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { EditorView } from "@codemirror/view";
import { rubricsText as words } from "../../text/rubrics";
import { rangeOf, type Fault } from "./draft";

interface Props {
  source: string;
  /** The source as it is now: what was rendered may be a key behind. */
  current: () => string;
  format: "toml" | "json";
  faults: Fault[];
  /** Where the cursor shall go: a new object goes there again. */
  goal: { line: number; column: number } | null;
  onChange: (source: string) => void;
}

const modules = () =>
  Promise.all([
    import("@codemirror/state"), import("@codemirror/view"), import("@codemirror/commands"), import("@codemirror/language"), import("@codemirror/lint"),
    import("@codemirror/legacy-modes/mode/toml"), import("@codemirror/lang-json"), import("@lezer/highlight"),
  ]);

type Modules = Awaited<ReturnType<typeof modules>>;

/**
 * The source in CodeMirror, inside a shadow root: there its styles are constructed sheets, which the page's policy allows,
 * and not style elements, which it refuses.
 */
export function SourceEditor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const parts = useRef<Modules | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const state = useSignal<"loading" | "ready" | { failed: string }>("loading");

  useEffect(() => {
    let left = false;
    void modules().then((loaded) => {
      if (left || !host.current) return;
      const [{ EditorState }, { EditorView, keymap, lineNumbers, highlightActiveLine, drawSelection }, { defaultKeymap, history, historyKeymap, indentWithTab }, { StreamLanguage, syntaxHighlighting, bracketMatching, HighlightStyle }, { lintGutter, lintKeymap }, { toml }, { json }, { tags }] = loaded;
      const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
      const theme = EditorView.theme({
        "&": { color: "var(--ink)", backgroundColor: "var(--sunk)", border: "1px solid var(--edge)", borderRadius: "8px", fontSize: "0.875rem", maxHeight: "36rem" },
        "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
        ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", minHeight: "14rem" },
        ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--quiet)", border: "none" },
        ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--accent-wash)" },
        ".cm-cursor": { borderLeftColor: "var(--ink)" },
        "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--mark) !important" },
        ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--edge)" },
      });
      const colours = HighlightStyle.define([
        { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
        { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.variableName], fontWeight: "600" },
        { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--accent)" },
      ]);
      const { source, format } = latest.current;
      view.current = new EditorView({
        root,
        parent: root,
        state: EditorState.create({
          doc: source,
          extensions: [
            lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), lintGutter(), EditorView.lineWrapping, theme,
            format === "json" ? json() : StreamLanguage.define(toml),
            syntaxHighlighting(colours),
            // Escape, then Tab: CodeMirror lets the next Tab out of the editor.
            keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
            EditorView.contentAttributes.of({ "aria-label": words.editor.sourceLabel, spellcheck: "false", dir: "auto", tabindex: "0" }),
            EditorView.updateListener.of((update) => {
              if (update.docChanged) latest.current.onChange(update.state.doc.toString());
            }),
          ],
        }),
      });
      parts.current = loaded;
      state.value = "ready";
      mark(loaded, view.current, latest.current.faults);
    }, (thrown: unknown) => void (left || (state.value = { failed: thrown instanceof Error ? thrown.message : String(thrown) })));
    return () => {
      left = true;
      view.current?.destroy();
      view.current = null;
    };
  }, [props.format]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const now = editor.state.doc.toString();
    const wanted = props.current();
    if (now !== wanted) editor.dispatch({ changes: { from: 0, to: now.length, insert: wanted } });
    if (parts.current) mark(parts.current, editor, props.faults);
  }, [props.source, props.faults, state.value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !props.goal) return;
    const { from } = rangeOf(props.source, props.goal);
    editor.dispatch({ selection: { anchor: Math.min(from, editor.state.doc.length) }, scrollIntoView: true });
    editor.focus();
  }, [props.goal]);

  return (
    <>
      {state.value === "loading" && <p class="hint">{words.editor.loading}</p>}
      {/* Without the library the source can still be edited. */}
      {typeof state.value === "object" && (
        <textarea class="code" rows={16} aria-label={words.editor.sourceLabel} value={props.source} onInput={(event) => props.onChange(event.currentTarget.value)} />
      )}
      <div ref={host} data-testid="source-editor" />
    </>
  );
}

function mark([, , , , { setDiagnostics }]: Modules, view: EditorView, faults: Fault[]): void {
  const source = view.state.doc.toString();
  const diagnostics = faults.map((fault) => ({ ...rangeOf(source, fault), severity: "error" as const, message: fault.message }));
  view.dispatch(setDiagnostics(view.state, diagnostics));
}
