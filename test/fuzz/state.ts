import { call } from '../support/http/client.ts';
import type { FuzzRequest } from './generator/drafts.ts';
import type { WireResponse } from './wire-client.ts';

/** The state that a request could have changed, as the API shows it, to detect whether a refused request changed it. */

/** The text of each response, by path. */
export type Snapshot = ReadonlyMap<string, string>;

const everything = ['/event-types', '/subscriptions?limit=1000', '/toggles', '/loanproducts?limit=1000'];

export class StateReader {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** @param isWhole Whether everything is read, or only the resources of the request. */
  async read(request: FuzzRequest, isWhole: boolean): Promise<Snapshot> {
    const paths = new Set([...(isWhole ? everything : []), ...pathsAbout(request)]);
    const snapshot = new Map<string, string>();
    for (const path of paths) snapshot.set(path, await this.#textAt(path));
    return snapshot;
  }

  /** The number of events published to an event type so far; undefined when there is none of that name. */
  async storedEvents(eventType: string): Promise<number | undefined> {
    const response = await call(`${this.#url}/event-types/${encodeURIComponent(eventType)}/partitions`, 'GET');
    if (response.status !== 200) return undefined;
    return (JSON.parse(response.text) as { newest_available_offset: string }[])
      .map(({ newest_available_offset: offset }) => Number(/(-1|\d+)$/.exec(offset)?.[0] ?? 0) + 1)
      .reduce((sum, count) => sum + count, 0);
  }

  async #textAt(path: string): Promise<string> {
    const { status, text, headers } = await call(`${this.#url}${path}`, 'GET');
    // A token differs each time.
    return `${status} ${headers.get('items-total') ?? ''} ${text.replaceAll(/"cursor_token":"[^"]*"/g, '')}`;
  }
}

function pathsAbout({ operation, url }: FuzzRequest): string[] {
  const [path = ''] = url.split('?', 1);
  const [, first = '', second = ''] = path.split('/');
  const isOdd = !/^[\w.:%-]{1,100}$/.test(second);
  switch (operation.path.split('/')[1] ?? '') {
    case 'event-types':
    case 'registry':
      return ['/event-types'];
    case 'subscriptions':
      return [
        '/subscriptions?limit=1000',
        ...(isOdd || first !== 'subscriptions' ? [] : [`/subscriptions/${second}/cursors`]),
      ];
    case 'toggles':
      return ['/toggles'];
    case 'loanproducts':
      return ['/loanproducts?limit=1000'];
    case 'loans': {
      const loan = second.replace(/:changeState$/, '');
      const named =
        isOdd || loan === 'transactions'
          ? []
          : ['', '/balances', '/schedule', '/transactions'].map((part) => `/loans/${loan}${part}`);
      return ['/loans?limit=1&paginationDetails=ON', ...named];
    }
    default:
      return [];
  }
}

/** The differences between two snapshots; empty when there are none. */
export function differencesOf(before: Snapshot, after: Snapshot): string[] {
  return [...before].flatMap(([path, text]) => {
    const now = after.get(path) ?? '';
    if (now === text) return [];
    let at = 0;
    while (at < text.length && text[at] === now[at]) at += 1;
    const shown = (whole: string): string => whole.slice(Math.max(0, at - 60), at + 140);
    return [`${path} was "...${shown(text)}" and is "...${shown(now)}"`];
  });
}

/** How many events were stored according to a publish response; undefined when it does not say. */
export function acknowledgedEvents(request: FuzzRequest, { status, body }: WireResponse): number | undefined {
  if (status === 207)
    return (JSON.parse(body) as { publishing_status: string }[]).filter(
      (item) => item.publishing_status === 'submitted',
    ).length;
  if (status >= 400) return 0;
  return status === 200 && request.method === 'POST' ? countOfEvents(request) : undefined;
}

/** How many events the body has; undefined for a format that is not read here. */
function countOfEvents({ bytes }: FuzzRequest): number | undefined {
  const body = bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
  try {
    const events: unknown = JSON.parse(body.toString());
    return Array.isArray(events) ? events.length : undefined;
  } catch {
    return undefined;
  }
}
