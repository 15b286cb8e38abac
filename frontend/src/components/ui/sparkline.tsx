interface SparklineProps {
  /** Describes the curve, with its last value in words. */
  label: string;
  values: readonly number[];
  /** The value at the upper edge; the largest value if unset. */
  max?: number;
  width?: number;
  height?: number;
}

/** A small curve of the last values, as wide as its container. */
export function Sparkline({ label, values, max, width = 120, height = 28 }: SparklineProps) {
  const top = max ?? Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${(height - 1 - (Math.min(value, top) / top) * (height - 2)).toFixed(1)}`);
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" className="block h-7 w-full text-accent">
      {points.length > 1 && (
        <>
          <polygon points={`0,${height} ${points.join(" ")} ${width},${height}`} fill="currentColor" opacity="0.14" />
          <polyline points={points.join(" ")} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" vectorEffect="non-scaling-stroke" />
        </>
      )}
    </svg>
  );
}
