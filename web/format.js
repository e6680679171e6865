// Formatting numbers, durations and ids for people.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const number = (value) => (value === null || value === undefined ? "–" : whole.format(value));
export const rate = (value) => (value === null || value === undefined ? "–" : tenths.format(value) + "/s");
export const compact = (value) => (Math.abs(value) < 100000 ? number(value) : short.format(value));
export const percent = (value) => (value === null ? "–" : tenths.format(value * 100) + " %");

// "1 job", "2 jobs".
export const counted = (value, one, many = one + "s") => `${number(value)} ${value === 1 ? one : many}`;

const UNITS = [["d", 86400000], ["h", 3600000], ["min", 60000], ["s", 1000]];

export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  for (let i = 0; i < UNITS.length; i++) {
    const [name, size] = UNITS[i];
    if (ms < size) continue;
    const count = Math.floor(ms / size);
    const below = UNITS[i + 1];
    const rest = below ? Math.floor((ms - count * size) / below[1]) : 0;
    return rest > 0 ? `${count} ${name} ${rest} ${below[0]}` : `${count} ${name}`;
  }
  return Math.max(0, Math.round(ms)) + " ms";
}

// Short times, with a decimal where it matters.
export function fine(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 10) return tenths.format(ms) + " ms";
  return ms >= 1000 && ms < 60000 ? tenths.format(ms / 1000) + " s" : duration(ms);
}

// Ids made at the same time begin alike, so the end is shown too.
export const shortId = (id) => (id ? id.slice(0, 8) + "…" + id.slice(-6) : "–");
