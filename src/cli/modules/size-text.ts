const UNITS = ["bytes", "KiB", "MiB", "GiB"] as const;

/** A size for display: `934 bytes`, `22.4 MiB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
