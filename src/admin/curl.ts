import { bodyText } from './api/api.ts';
import { parseToShow, shownJson } from './exact-numbers.ts';

/** A request as a command for a terminal, which sends the same. */
export function curl(method: string, path: string, body: unknown): string {
  const json = shownJson(parseToShow(bodyText(body)), 2).replaceAll("'", String.raw`'\''`);
  return `curl -X ${method} '${location.origin}${path}' -H 'Content-Type: application/json' -d '${json}'`;
}
