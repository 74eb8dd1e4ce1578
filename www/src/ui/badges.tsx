/** Who decides, or has decided: told by a sign and a word, never by colour alone. */
export function Decider({ by, label, title }: { by: "code" | "model"; label: string; title?: string }) {
  return (
    <span class={`decider by-${by}`} data-by={by} title={title}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {by === "code"
          ? <path d="M2.500 8.500 6.200 12.200 13.500 4" />
          : <path d="M8 2v12M3 5h10M3 5 1.200 9.500h3.600zM13 5l-1.800 4.500h3.600zM5.500 14h5" />}
      </svg>
      {label}
    </span>
  );
}
