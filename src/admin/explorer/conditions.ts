import type { AddressQuery } from '../address-query.ts';

/** Which events are looked for, and where the list begins: what the address of the page holds. */
export interface Conditions {
  readonly text: string;
  readonly eid: string;
  readonly key: string;
  readonly flowId: string;
  /** `field = value`, the field as a path with dots or slashes. */
  readonly field: string;
  /** Empty: all of them. */
  readonly partition: string;
  /** Empty: the newest, or the oldest with `forward`. Otherwise an offset of one partition, or a time. */
  readonly from: string;
  readonly forward: boolean;
}

export function readConditions(query: AddressQuery): Conditions {
  return {
    text: query.get('text'),
    eid: query.get('eid'),
    key: query.get('key'),
    flowId: query.get('flow_id'),
    field: query.get('field'),
    partition: query.get('partition'),
    from: query.get('from'),
    forward: query.get('order') === 'oldest',
  };
}

/** The conditions as parameters of the address. */
export function conditionParameters(conditions: Conditions): Record<string, string> {
  const { text, eid, key, flowId, field, partition, from, forward } = conditions;
  return { text, eid, key, flow_id: flowId, field, partition, from, order: forward ? 'oldest' : '' };
}

/** Whether some events are left out. */
export function isSelective({ text, eid, key, flowId, field }: Conditions): boolean {
  return [text, eid, key, flowId, field].some((value) => value.trim() !== '');
}

/** `order.id = A-1` as the API has it: `/order/id=A-1`. */
export function filterOf(field: string): string {
  const [path = '', ...value] = field.split('=');
  const pointer = path.trim().replaceAll('.', '/').replace(/^\/?/, '/');
  return `${pointer}=${value.join('=').trim()}`;
}

/**
 * The path of a page of events.
 * @param source The name of an event type, or the path of a queue of dead letters.
 * @param page Where the page begins, in the form of the API: a token, or nothing for the first page.
 */
export function eventsPath(source: string, conditions: Conditions, limit: number, token?: string): string {
  const { text, eid, key, flowId, field, partition, from, forward } = conditions;
  const query = new URLSearchParams({ limit: String(limit) });
  if (token !== undefined) query.set('token', token);
  else {
    if (from !== '') query.set('from', from);
    query.set('direction', forward ? 'forward' : 'backward');
  }
  if (text !== '') query.set('text', text);
  if (eid.trim() !== '') query.set('eid', eid.trim());
  if (flowId.trim() !== '') query.set('flow_id', flowId.trim());
  if (key.trim() !== '') query.set('key', key.trim());
  if (field.trim() !== '') query.set('filter', filterOf(field));
  if (source.startsWith('/')) return `${source}?${query.toString()}`;
  const type = `/event-types/${encodeURIComponent(source)}`;
  const address = partition === '' ? `${type}/retained-events` : `${type}/partitions/${partition}/events`;
  return `${address}?${query.toString()}`;
}
