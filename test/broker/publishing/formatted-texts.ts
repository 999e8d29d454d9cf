/** A UUID that has the first and last digit of each kind. */
export const exampleId = '09afAF3b-0123-4567-89ab-cdefABCDEF01';

/** Times, every day of a February and every month of a year, and others that are nearly times. */
export function timesAndNeighbours(): string[] {
  const times = [
    '2026-01-12T10:00:00Z',
    '2026-10-28T20:59:59.123Z',
    '2024-02-29t23:59:59+01:00',
    '2024-02-29T23:59:59.123456789-18:00',
    '2026-10-28T20:59:59.123456789Z',
  ];
  const two = (number: number): string => String(number).padStart(2, '0');
  const days = Array.from({ length: 33 }, (_, day) => `2026-02-${two(day)}T00:00:00Z`);
  const months = Array.from({ length: 14 }, (_, month) => `2026-${two(month)}-28T00:00:00Z`);
  return [...times, ...times.flatMap(neighboursOf), ...days, ...months, '', 'Z'];
}

/** An id, and others that are nearly ids. */
export function idsAndNeighbours(): string[] {
  return [exampleId, ...neighboursOf(exampleId), ''];
}

/** Whether a text is a UUID, in either case and of any version. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** A text with each of its characters replaced by others, left out and repeated. */
export function neighboursOf(text: string): string[] {
  return Array.from(text, (character, at) => {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)];
    const others = Array.from('0123456789/:;.-+TZtz@ABFGabfg` xX', (other) => before + other + after);
    return [...others, before + after, before + character + character + after];
  }).flat();
}
