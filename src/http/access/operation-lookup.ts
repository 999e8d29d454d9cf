import { apiPath, isBelowApi, isMambuStreamingPath, withoutLastSlash } from '../edge/request-paths.ts';
import { operations, type Operation } from './operations.ts';

/** An operation that a request may mean, and the values in its path. */
export interface FoundOperation {
  readonly operation: Operation;
  readonly values: readonly string[];
}

/** An operation, ready to be compared with paths. */
interface Pattern {
  readonly operation: Operation;
  readonly form: RegExp;
}

/** Operations by their method and the first part of their path. */
const patterns = new Map<string, Pattern[]>();

for (const operation of operations) {
  const key = keyOf(operation.method, operation.path);
  const parts = operation.path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`));
  const pattern = { operation, form: new RegExp(`^${parts.join('([^/]+)')}$`) };
  patterns.set(key, [...(patterns.get(key) ?? []), pattern]);
}

/**
 * The operations that a request may mean. More than one pattern may fit a path, and a router takes the first of them:
 * a request needs what all of them need.
 * @param path As it was sent, percent-encoded.
 * @throws URIError when the path cannot be decoded
 */
export function findOperations(method: string, path: string): FoundOperation[] {
  const asked = pathOf(path);
  const candidates = patterns.get(keyOf(method === 'HEAD' ? 'GET' : method, asked)) ?? [];
  return candidates.flatMap(({ operation, form }) => {
    const match = form.exec(asked);
    return match === null ? [] : [{ operation, values: match.slice(1).map((value) => decodeURIComponent(value)) }];
  });
}

/** The lending API answers at its paths and below `/api`: both are the same operations. */
function pathOf(path: string): string {
  const asked = withoutLastSlash(path);
  return isBelowApi(asked) && !isMambuStreamingPath(asked) ? asked.slice(apiPath.length) : asked;
}

/** `/loans:search` belongs to `/loans`. */
function keyOf(method: string, path: string): string {
  return `${method} ${/^\/[^/:]*/.exec(path)?.[0] ?? path}`;
}
