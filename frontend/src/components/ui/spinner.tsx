/** A turning ring for waits of unknown length. */
export function Spinner({ size = 16 }: { size?: number }) {
  return (
    <svg aria-hidden width={size} height={size} viewBox="0 0 16 16" className="animate-spin shrink-0" fill="none" strokeWidth="2">
      <circle cx="8" cy="8" r="6" stroke="currentColor" opacity="0.25" />
      <path d="M14 8a6 6 0 0 0-6-6" stroke="currentColor" strokeLinecap="round" />
    </svg>
  );
}
