import type { Responses } from '../../contract.ts';
import { getText } from '../api/api.ts';
import { parseToShow, shownJson } from '../exact-numbers.ts';

/** An event of the log, at its position. */
export interface FoundEvent {
  readonly partition: string;
  readonly offset: string;
  /** When it was stored. */
  readonly timestamp: string;
  readonly eventKey: string;
  /** Of a dead letter: its id among the letters of its queue, and whether it was dealt with. */
  readonly letter?: { readonly id: string; readonly dealtWith: string };
  /** The event's fields, to be shown by {@link shownJson}. */
  readonly value: Readonly<Record<string, unknown>>;
}

export interface EventsPage extends Omit<Responses['findRetainedEvents'], 'items'> {
  readonly items: readonly FoundEvent[];
}

/** An event of a page; a dead letter has more. */
type Item = Responses['findRetainedEvents']['items'][number] & {
  readonly id?: string;
  readonly dealt_with?: { readonly note: string | null } | null;
};

export async function loadEvents(path: string, signal: AbortSignal): Promise<EventsPage> {
  const text = await getText(path, { signal });
  const page = JSON.parse(text) as Responses['findRetainedEvents'];
  const { items } = parseToShow(text) as { readonly items: readonly { readonly event: FoundEvent['value'] }[] };
  return {
    ...page,
    items: page.items.map(({ partition, offset, timestamp, key = '', ...rest }: Item, index) => ({
      ...(rest.id === undefined ? {} : { letter: { id: rest.id, dealtWith: stateOf(rest.dealt_with) } }),
      partition,
      offset,
      timestamp,
      eventKey: key,
      value: items[index]?.event ?? {},
    })),
  };
}

/** What was done about a dead letter; empty while it is open. */
function stateOf(dealtWith: Item['dealt_with']): string {
  if (dealtWith === undefined || dealtWith === null) return '';
  const { note } = dealtWith;
  return note === null || note === '' ? 'dealt with' : note;
}

export function idOf({ partition, offset }: FoundEvent): string {
  return `${partition} ${offset}`;
}

/** A value of an event as a cell shows it; empty when the event does not have it. @param path With dots. */
export function fieldText({ value }: FoundEvent, path: string): string {
  let current: unknown = value;
  for (const step of path.split('.')) {
    if (typeof current !== 'object' || current === null) return '';
    current = (current as Readonly<Record<string, unknown>>)[step];
  }
  if (current === undefined || current === null) return '';
  const shown = shownJson(current);
  return shown.startsWith('"') ? (JSON.parse(shown) as string) : shown;
}

/** How deep the fields of an event are offered as columns. */
const depthMaximum = 2;

/** How many fields are offered. */
const fieldsMaximum = 60;

/** The fields with single values that events have, for choosing columns. Metadata other than the eid comes last. */
export function fieldsOf(events: readonly FoundEvent[]): string[] {
  const found = new Set<string>();
  const visit = (value: Readonly<Record<string, unknown>>, prefix: string, depth: number): void => {
    for (const [name, inner] of Object.entries(value)) {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      if (typeof inner === 'object' && inner !== null) {
        if (!Array.isArray(inner) && depth < depthMaximum)
          visit(inner as Readonly<Record<string, unknown>>, path, depth + 1);
      } else if (inner !== null && found.size < fieldsMaximum) found.add(path);
    }
  };
  for (const { value } of events) visit(value, '', 1);
  const fields = [...found];
  const isMetadata = (path: string): boolean => path.startsWith('metadata.');
  return [...fields.filter((path) => !isMetadata(path)), ...fields.filter(isMetadata)];
}

/** An event without its metadata, on one line. @param lengthMaximum Characters. */
export function summaryOf({ value }: FoundEvent, lengthMaximum = 160): string {
  const { metadata: _, ...body } = value;
  const text = shownJson(body);
  return text.length > lengthMaximum ? `${text.slice(0, lengthMaximum)}…` : text;
}
