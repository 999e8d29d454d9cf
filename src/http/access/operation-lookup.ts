import { apiPath, isBelowApi, isMambuStreamingPath, withoutLastSlash } from '../edge/request-paths.ts';
import { operations, type Operation } from './operation-permissions.ts';

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

/**
 * Operations by their method and the last part of their path, where it is fixed. Few share it, so that a request is
 * compared with few patterns.
 */
const fixedEnds = new Map<string, Pattern[]>();

/** All others, by their method and the first part of their path. */
const variableEnds = new Map<string, Pattern[]>();

for (const operation of operations) {
  const { method, path } = operation;
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()[\]\\|]/g, String.raw`\$&`));
  const pattern = { operation, form: new RegExp(`^${parts.join('([^/]+)')}$`) };
  const hasFixedEnd = !endOf(path).includes('{');
  const [patterns, key] = hasFixedEnd ? [fixedEnds, method + endOf(path)] : [variableEnds, method + startOf(path)];
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
  const known = method === 'HEAD' ? 'GET' : method;
  const found: FoundOperation[] = [];
  collect(found, fixedEnds.get(known + endOf(asked)), asked);
  collect(found, variableEnds.get(known + startOf(asked)), asked);
  return found;
}

function collect(found: FoundOperation[], patterns: readonly Pattern[] | undefined, asked: string): void {
  if (patterns === undefined) return;
  for (const { operation, form } of patterns) {
    const match = form.exec(asked);
    if (match !== null) found.push({ operation, values: match.slice(1).map((value) => decodeURIComponent(value)) });
  }
}

/** The lending API answers at its paths and below `/api`: both are the same operations. */
function pathOf(path: string): string {
  const asked = withoutLastSlash(path);
  return isBelowApi(asked) && !isMambuStreamingPath(asked) ? asked.slice(apiPath.length) : asked;
}

/** The first part of a path, with its slash: `/loans:search` belongs to `/loans`. */
function startOf(path: string): string {
  return /^\/[^/:]*/.exec(path)?.[0] ?? path;
}

/** The last part of a path, with its slash. */
function endOf(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}
