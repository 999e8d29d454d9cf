/**
 * A `filter` of a stream: only events that have this value at this place are delivered.
 * @param path The names of members, and the indexes of elements, that lead there: `['metadata', 'event_type']`.
 */
export function filterFor(path: readonly (string | number)[], value: string | number | boolean | null): string {
  const escapes: Readonly<Record<string, string>> = { '~': '~0', '/': '~1', '=': '~2' };
  const names = path.map((name) => String(name).replace(/[~/=]/g, (character) => escapes[character] ?? character));
  return `/${names.join('/')}=${JSON.stringify(value)}`;
}
