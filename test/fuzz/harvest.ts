import type { FuzzRequest } from './generator/drafts.ts';
import { isJsonObject } from './generator/json-text.ts';
import type { LiveIds, Session } from './live-ids.ts';
import type { Exchange } from './wire-client.ts';

/** Collects the ids created by the service from responses. */

/** @returns the id of the opened stream, if there is one */
export function harvest(
  ids: LiveIds,
  request: FuzzRequest,
  subscription: string,
  { response }: Exchange,
): string | undefined {
  if (response === undefined || response.status >= 300) return undefined;
  const stream = response.headers['x-nakadi-streamid'];
  if (stream !== undefined) {
    const session: Session = { subscription, stream, cursors: [] };
    ids.addSession(session);
    for (const line of response.body.split('\n').slice(0, -1)) harvestCursor(ids, stream, line);
    return stream;
  }
  const made = objectIn(response.body);
  const text = (name: string): string | undefined => (typeof made[name] === 'string' ? made[name] : undefined);
  const add = (kind: Parameters<LiveIds['add']>[0], id: string | undefined): void => {
    if (id !== undefined) ids.add(kind, id);
  };
  const { operationId } = request.operation;
  if (response.status === 202) add('command', text('commandId'));
  else if (/^create(Mambu)?Subscription/.test(operationId)) add('subscription', text('id'));
  else if (operationId === 'createLoan') {
    add('loan', text('id'));
    add('loan', text('encodedKey'));
  } else if (operationId === 'createLoanProduct') add('product', text('encodedKey'));
  else if (/^(disburse|apply|repay|overpay)/.test(operationId)) add('transaction', text('encodedKey'));
  return undefined;
}

/** Records the cursor of a line with events. @param stream Undefined for lines before the stream was known. */
export function harvestCursor(ids: LiveIds, stream: string | undefined, line: string): void {
  const { cursor, events } = objectIn(line);
  if (stream === undefined || events === undefined) return;
  const cursors = ids.sessionOf(stream)?.cursors;
  cursors?.push(JSON.stringify(cursor));
}

/** The fields of a text that is a JSON object; none when it is something else. */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
