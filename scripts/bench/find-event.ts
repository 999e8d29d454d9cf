import { randomUUID } from 'node:crypto';
import { fillBacklog } from './load/backlog.ts';
import { eventBytes, eventsPerBatch } from './events.ts';
import type { MeasuredService } from './measured-service.ts';
import type { Report } from './report.ts';
import { processorMilliseconds } from './service-figures.ts';
import { figure, median } from './statistics.ts';

const eventType = 'bench.find';

/** The events among which one is searched for, at scale 1. */
const eventCount = 1_000_000;

/** The longest that finding it may take. Seconds. */
const secondsMaximum = 2;

/** The longest that another request may wait meanwhile. Milliseconds. */
const waitMillisecondsMaximum = 50;

interface Page {
  readonly items: readonly unknown[];
  readonly next: string;
  readonly ended_by: string;
}

interface Search {
  readonly seconds: number;
  readonly pages: number;
  readonly processorSeconds: number;
  readonly longestWaitMilliseconds: number;
}

/** Prints how long it takes to find one event by its id, when it lies behind a million others. */
export async function measureFinding(report: Report, service: MeasuredService, scale: number): Promise<void> {
  const events = Math.ceil((eventCount * scale) / eventsPerBatch) * eventsPerBatch;
  report.begin(`Finding one event by its eid behind ${figure(events)} others`);
  await fillBacklog(service, { eventType, events, eventBytes });
  const eid = randomUUID();
  const event = { metadata: { eid, occurred_at: '2026-01-12T10:00:00.000Z' }, account: 'A-1', amount: 1, text: 'here' };
  await service.call('POST', `/event-types/${eventType}/events`, [event]);
  const searches: Search[] = [];
  for (let round = 0; round <= report.rounds; round += 1) {
    const search = await find(service, eid);
    if (round > 0) searches.push(search);
  }
  const seconds = median(searches.map((search) => search.seconds));
  const pages = median(searches.map((search) => search.pages));
  const processor = median(searches.map((search) => search.processorSeconds));
  const wait = median(searches.map((search) => search.longestWaitMilliseconds));
  report.printFigure(
    `one event of ${figure(events)} found by its eid`,
    `${figure(seconds)} s in ${figure(pages)} pages, ${figure(processor)} s of processor`,
    seconds <= secondsMaximum,
    `<= ${secondsMaximum} s`,
  );
  report.printFigure(
    'longest request beside the search',
    `${figure(wait)} ms`,
    wait <= waitMillisecondsMaximum,
    `<= ${waitMillisecondsMaximum} ms`,
  );
}

async function find(service: MeasuredService, eid: string): Promise<Search> {
  const path = `${service.url}/event-types/${eventType}/retained-events?eid=${eid}`;
  const processorBefore = processorMilliseconds(service.processId);
  let isSearching = true;
  const waits = longestWait(service, () => isSearching);
  const startedAt = performance.now();
  let pages = 1;
  let page = (await (await fetch(path)).json()) as Page;
  while (page.items.length === 0 && page.ended_by === 'search_limit') {
    page = (await (await fetch(`${path}&token=${page.next}`)).json()) as Page;
    pages += 1;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  isSearching = false;
  if (page.items.length !== 1) throw new Error(`The event was not found: ${JSON.stringify(page)}`);
  const processorSeconds = (processorMilliseconds(service.processId) - processorBefore) / 1_000;
  return { seconds, pages, processorSeconds, longestWaitMilliseconds: await waits };
}

/** The longest that a small request took. Milliseconds. */
async function longestWait(service: MeasuredService, goesOn: () => boolean): Promise<number> {
  let longest = 0;
  while (goesOn()) {
    const startedAt = performance.now();
    await (await fetch(`${service.url}/version`)).text();
    longest = Math.max(longest, performance.now() - startedAt);
  }
  return longest;
}
