import { formatText } from '../format-text.ts';

/** Makes docs/lending-api.md: each operation of the original's lending API, and whether it is here. */

/** One operation of the original's contract. */
export interface ContractOperation {
  /** What it is about, as a heading. */
  readonly area: string;
  readonly method: string;
  /** The path, with the names of its parameters in braces. */
  readonly path: string;
  /** The names of its query parameters. */
  readonly query: readonly string[];
  /** What is missing where the operation is here; a sentence. */
  readonly missing?: string;
  /** Why the operation is not here, or what to use instead; a sentence. Shown while it is refused. */
  readonly reason?: string;
}

/** The part of the API's description that is read. */
export interface DescribedApi {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/** The methods of a path, and where it is served. */
type PathItem = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly $ref?: string;
}

interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** The names of its query parameters. */
  readonly query: ReadonlySet<string>;
  /** Whether any request can succeed. */
  readonly succeeds: boolean;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** The whole document, formatted. @param target The path of its file, by which its format is found. */
export function lendingApiDocument(
  api: DescribedApi,
  contract: readonly ContractOperation[],
  target: string,
): Promise<string> {
  return formatText(target, writeDocument(api, contract));
}

function writeDocument(api: DescribedApi, contract: readonly ContractOperation[]): string {
  const described = lendingOperations(api);
  const byKey = new Map(described.map((operation) => [keyOf(operation), operation]));
  const rows = contract.map((operation) => ({ operation, ...stateOf(operation, byKey.get(keyOf(operation))) }));
  const inContract = new Set(contract.map(keyOf));
  const additional = described.filter((operation) => !inContract.has(keyOf(operation)));
  const counts = states.map((state) => `${rows.filter((row) => row.state === state).length} ${words[state]}`);
  const areas = [...new Set(contract.map(({ area }) => area))];
  return [
    '# The lending API beside its original',
    "Every operation of Mambu's API v2 about loans, products, transactions, schedules, installments, the organization and custom",
    `fields, and whether it is here: ${counts.join(', ')}.`,
    '',
    '`npm run generate` makes this page from the description of the API and from the list of operations in',
    '[contract-operations.json](../scripts/docs/contract-operations.json). An operation that is refused has no path here, which is',
    'answered 404 or 405, or it is answered 400 with the reason. [api.md](api.md#lending) describes what is here.',
    '',
    ...areas.flatMap((area) => [
      `## ${area}`,
      '',
      '| operation | here | remarks |',
      '| --- | --- | --- |',
      ...rows
        .filter(({ operation }) => operation.area === area)
        .map(({ operation, state, remark }) => `| ${nameOf(operation)} | ${words[state]} | ${remark} |`),
      '',
    ]),
    '## Only here',
    '',
    '| operation | what it does |',
    '| --- | --- |',
    ...additional.map((operation) => `| ${nameOf(operation)} | ${operation.summary} |`),
    '',
  ].join('\n');
}

const states = ['here', 'partly', 'refused'] as const;
type State = (typeof states)[number];

const words: Readonly<Record<State, string>> = { here: 'here', partly: 'partly here', refused: 'refused' };

function stateOf(
  { query, missing, reason = '' }: ContractOperation,
  described: DescribedOperation | undefined,
): { readonly state: State; readonly remark: string } {
  if (described?.succeeds !== true) return { state: 'refused', remark: reason };
  const refused = query.filter((name) => !described.query.has(name)).map((name) => `\`${name}\``);
  const remarks = [missing ?? '', refused.length === 0 ? '' : `The parameters ${refused.join(', ')} are refused.`];
  const remark = remarks.filter((text) => text !== '').join(' ');
  return { state: remark === '' ? 'here' : 'partly', remark };
}

/** The operations of the lending API, which are those that are also served below /api. */
function lendingOperations({ paths, components }: DescribedApi): DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    if (!JSON.stringify(item['servers'] ?? []).includes('"/api"')) return [];
    return methods.flatMap((method) => {
      const operation = item[method] as
        | { summary: string; parameters?: Parameter[]; responses: Readonly<Record<string, unknown>> }
        | undefined;
      if (operation === undefined) return [];
      const parameters = [...((item['parameters'] ?? []) as Parameter[]), ...(operation.parameters ?? [])]
        .map((parameter) => components.parameters[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter)
        .filter((parameter) => parameter.in === 'query');
      return {
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        query: new Set(parameters.map(({ name = '' }) => name)),
        succeeds: Object.keys(operation.responses).some((status) => status.startsWith('2')),
      };
    });
  });
}

/** The same for the same operation, however its parameters are called. */
function keyOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;
}

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `\`${method} ${path}\``;
}
