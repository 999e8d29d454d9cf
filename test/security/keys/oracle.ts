import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/package-root.ts';

/**
 * Says what a request may be answered, from docs/access.md alone: it shares no code with the service. Roles are read
 * from the table there, and the rules below are its table of permissions in terms of methods and paths.
 */

/** A row of a table in Markdown that begins with code: its first cell, and the others. */
const rowForm = /^\| `([^`]+)` +\| (.*) \|$/gm;

const documentText = readFileSync(join(packageRoot, 'docs/access.md'), 'utf8');

/** The rows of the table whose first heading has this name. */
function tableOf(heading: string): [first: string, rest: string][] {
  const beginning = documentText.indexOf(`\n| ${heading} `);
  if (beginning === -1) throw new Error(`docs/access.md has no table of ${heading}`);
  const table = documentText.slice(beginning + 1).split('\n\n')[0] ?? '';
  return [...table.matchAll(rowForm)].map(([, first = '', rest = '']) => [first, rest]);
}

/** All permissions but those of one command. */
export const permissions: readonly string[] = tableOf('permission').flatMap(([name]) =>
  name.includes('<') ? [] : [name],
);

/** The permissions of each role. */
export const roles: ReadonlyMap<string, readonly string[]> = new Map(
  tableOf('role').map(([role, text]) => {
    const named = [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    return [role, text.trim() === 'all' ? permissions : named];
  }),
);

type Rule = readonly [methods: string, path: RegExp, permission: string];

/** The first that fits counts. `public` needs no key, and `any` a valid one. */
const rules: readonly Rule[] = [
  ['GET', /^\/(health|ready|openapi\.json|docs(\/.*)?)$/, 'public'],
  ['GET', /^\/(access|commands\/.*)$/, 'any'],
  ['POST', /^\/stream-tokens$/, 'any'],
  ['*', /^\/api-keys/, 'keys:manage'],
  ['GET', /^\/settings\//, 'settings:read'],
  ['*', /^\/settings\//, 'settings:manage'],
  ['GET', /^\/dead-letters\//, 'dead-letters:read'],
  ['*', /^\/dead-letters\//, 'dead-letters:manage'],
  ['GET', /^\/(metrics|version|overview)$/, 'operations:read'],
  ['*', /^(\/api|\/api\/v1)?\/subscriptions\/\{id\}\/events$/, 'subscriptions:consume'],
  ['POST', /^(\/api|\/api\/v1)?\/subscriptions\/\{id\}\/cursors$/, 'subscriptions:consume'],
  ['GET', /^(\/api|\/api\/v1)?\/subscriptions/, 'subscriptions:read'],
  ['*', /^(\/api|\/api\/v1)?\/subscriptions/, 'subscriptions:manage'],
  ['POST', /^\/event-types\/\{name\}\/(deleted-)?events$/, 'events:publish'],
  ['GET', /^\/event-types\/\{name\}\/(.*\/)?(events|retained-events|publishers)$/, 'events:read'],
  ['GET', /^\/(event-types|registry)/, 'event-types:read'],
  [
    'POST',
    /^\/(registry\/|event-types\/\{name\}\/(.*compatibility-check|cursor-distances|shifted-cursors|cursors-))/,
    'event-types:read',
  ],
  ['*', /^\/event-types/, 'event-types:manage'],
  ['GET', /^\/(loans|installments)/, 'loans:read'],
  ['POST', /^\/loans.*:(search|preview\w*)$/, 'loans:read'],
  ['*', /^\/loans/, 'loan-commands:*'],
  ['GET', /^\/loanproducts/, 'loan-products:read'],
  ['*', /^\/loanproducts/, 'loan-products:manage'],
  ['POST', /^\/organization:endOfDay$/, 'business-days:close'],
  ['PUT', /^\/toggles/, 'toggles:manage'],
  ['GET', /./, 'organization:read'],
  ['*', /./, 'organization:manage'],
];

/** What an operation of the API description needs. @param path As the description writes it. */
export function permissionOf(method: string, path: string): string {
  const rule = rules.find(([methods, form]) => (methods === '*' || methods === method) && form.test(path));
  return rule?.[2] ?? 'none';
}

/** Who sends a request. */
export interface Sender {
  readonly name: string;
  /** `none` stands for everything that is not a valid key: no key, one that expired or was revoked, invented ones. */
  readonly kind: 'valid' | 'none';
  readonly application: string;
  readonly permissions: ReadonlySet<string>;
}

/** What the path of a request names. */
export interface Target {
  readonly name: string;
  /** Undefined for what does not exist. */
  readonly owner: string | undefined;
  /** Whether it is an event type without `authorization`. */
  readonly isUnguarded: boolean;
}

/** The statuses that a request may have: exactly one, or every one that is no refusal of access and no fault. */
export type Expected = 401 | 403 | 404 | 'served';

/** @param target Undefined when the path names neither an event type nor a subscription. */
export function expectedOf(sender: Sender, permission: string, target: Target | undefined): Expected {
  if (permission === 'public') return 'served';
  if (sender.kind === 'none') return 401;
  const has = (name: string): boolean => sender.permissions.has(name);
  if (permission !== 'any' && !has(permission)) return 403;
  if (target === undefined) return 'served';
  if (target.owner === undefined) return 404;
  if (target.owner !== sender.application && !has('any-application')) {
    if (!target.isUnguarded) return 404;
    return permission === 'event-types:read' || permission === 'events:read' ? 'served' : 403;
  }
  // Readers of a subscription need to be readers of its event types as well.
  return permission === 'subscriptions:consume' && !has('events:read') ? 403 : 'served';
}

/** What is wrong with the status of a response; undefined when it is allowed. */
export function faultOf(expected: Expected, status: number): string | undefined {
  if (status >= 500 || status === 0) return `answered ${status}`;
  if (expected !== 'served') return status === expected ? undefined : `answered ${status} instead of ${expected}`;
  return status === 401 || status === 403 ? `answered ${status}, although it is allowed` : undefined;
}
