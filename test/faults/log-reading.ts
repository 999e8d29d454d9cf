import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { call } from '../support/http/client.ts';
import type { HistoryWriter, LendingFacts } from './history.ts';
import type { ServiceNode } from './load-process.ts';

/** Reads the whole log and every loan into the history when a run is over. */

type Json = Record<string, unknown>;

/**
 * When nothing more arrives for this time, everything is read: the newest offset may belong to no event. Milliseconds.
 */
const quietMilliseconds = 4_000;
const readingMillisecondsMaximum = 120_000;
/** Large enough that nothing ever waits for a commit. */
const window = 100_000_000;
const loansAtATime = 8;

/** Reads the event types completely, one event per batch, so that the offset of each one is known. */
export async function readLog(
  history: HistoryWriter,
  node: ServiceNode,
  eventTypes: readonly string[],
  name: string,
): Promise<void> {
  const newest = new Map<string, number>();
  for (const eventType of eventTypes) {
    const { text } = await call(`${node.url}/event-types/${eventType}/partitions`, 'GET');
    for (const { partition, newest_available_offset: offset } of JSON.parse(text) as Record<string, string>[]) {
      newest.set(`${eventType}/${partition}`, offsetOf(offset ?? ''));
    }
  }
  const created = await call(`${node.url}/subscriptions`, 'POST', {
    owning_application: 'faults',
    consumer_group: name,
    event_types: eventTypes,
    read_from: 'begin',
  });
  const id = String(created.body['id']);
  const query = `batch_limit=1&max_uncommitted_events=${window}&batch_flush_timeout=1&commit_timeout=60`;
  await new Promise<void>((resolve, reject) => {
    const sent = get(`${node.url}/subscriptions/${id}/events?${query}`, { agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The log cannot be read: ${response.statusCode}`));
      const left = new Set([...newest].flatMap(([partition, offset]) => (offset < 0 ? [] : [partition])));
      const finish = (): void => {
        clearTimeout(quiet);
        clearTimeout(limit);
        response.destroy();
        resolve();
      };
      const quiet = setTimeout(finish, quietMilliseconds);
      const limit = setTimeout(() => reject(new Error('The log has no end')), readingMillisecondsMaximum);
      createInterface({ input: response }).on('line', (line) => {
        const { cursor, events } = JSON.parse(line) as { cursor: Record<string, string>; events?: Json[] };
        const [event] = events ?? [];
        if (event === undefined) return;
        quiet.refresh();
        const eventType = String(cursor['event_type']);
        const position = {
          eventType,
          partition: Number(cursor['partition']),
          offset: offsetOf(String(cursor['offset'])),
        };
        const { eid } = event['metadata'] as { eid: string };
        const facts = factsOf(event);
        history.record({ kind: 'log read', position, eid, ...(facts === undefined ? {} : { facts }) });
        const partition = `${eventType}/${position.partition}`;
        if (position.offset >= (newest.get(partition) ?? 0)) left.delete(partition);
        if (left.size === 0) finish();
      });
      // Silence shows its end.
      response.on('error', () => undefined);
    });
    sent.on('error', reject);
  });
  history.record({ kind: 'log complete', eventTypes });
}

function offsetOf(text: string): number {
  return text.endsWith('--1') ? -1 : Number(text.slice(text.lastIndexOf('-') + 1));
}

/** The fields of an event of the lending worker that the checkers need; undefined for other events. */
export function factsOf(event: Json): LendingFacts | undefined {
  const loan = event['loanAccountId'];
  if (typeof loan !== 'string') return undefined;
  const { sequence, causationCommandId: command, transaction, balances } = event;
  const posted = transaction as { encodedKey: string; type: string; amount: number } | undefined;
  return {
    loan,
    ...(typeof sequence === 'number' ? { sequence } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...(posted === undefined
      ? {}
      : { transaction: { key: posted.encodedKey, type: posted.type, amount: inCents(posted.amount) } }),
    ...(balances === undefined ? {} : { balances: allInCents(balances as Json) }),
  };
}

function inCents(amount: number): number {
  return Math.round(amount * 100);
}

function allInCents(balances: Json): Record<string, number> {
  return Object.fromEntries(Object.entries(balances).map(([name, amount]) => [name, inCents(Number(amount))]));
}

/** Requests every loan from every node. */
export async function readLoans(
  history: HistoryWriter,
  nodes: readonly ServiceNode[],
  loans: readonly string[],
): Promise<void> {
  const wanted = nodes.flatMap((node) => loans.map((loan) => ({ node, loan })));
  const reader = async (): Promise<void> => {
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      const { node, loan } = next;
      const balances = await call(`${node.url}/loans/${loan}/balances`, 'GET');
      // A loan that was never opened: its command had no response, or was refused.
      if (balances.status === 404) continue;
      const { text } = await call(`${node.url}/loans/${loan}/transactions`, 'GET');
      history.record({
        kind: 'loan seen',
        loan,
        node: node.name,
        balances: allInCents(balances.body),
        transactions: (JSON.parse(text) as { encodedKey: string }[]).map(({ encodedKey }) => encodedKey),
      });
    }
  };
  await Promise.all(Array.from({ length: loansAtATime }, reader));
}
