import { eventsPerBatch } from '../../bench/events.ts';
import { Counts } from './counts.ts';
import { Lending } from './lending.ts';
import { publish } from './publishing.ts';
import { steadily } from './steadily.ts';
import { stream } from './streaming.ts';

/**
 * The process that puts the service under load, until it is told to end. Prints what it did as one line of JSON, in
 * equal intervals.
 */
export interface LoadSettings {
  readonly url: string;
  readonly secondsPerLine: number;
  readonly eventType: string;
  readonly eventsPerSecond: number;
  /** One stream is read of each. */
  readonly subscriptions: readonly string[];
  readonly product: string;
  readonly loansPerMinute: number;
  readonly transactionsPerLoan: number;
  /** To loans that were opened earlier. */
  readonly earlierCommandsPerMinute: number;
}

/** How long the first stream lives. Milliseconds. */
const streamMilliseconds = 60_000;

const settings = JSON.parse(process.argv[2] ?? '{}') as LoadSettings;
const { url, eventType, product, transactionsPerLoan } = settings;
const counts = new Counts();
const lending = new Lending({ url, product, transactionsPerLoan }, counts);

for (const [index, subscription] of settings.subscriptions.entries()) {
  // Up to twice as long, so that they do not all end at the same time.
  const lifeMilliseconds = streamMilliseconds * (1 + index / settings.subscriptions.length);
  void stream({ url, subscription, lifeMilliseconds }, counts);
}
void steadily(settings.eventsPerSecond / eventsPerBatch, (number) => publish(url, eventType, number, counts));
void steadily(settings.loansPerMinute / 60, (number) => lending.openLoan(number));
void steadily(settings.earlierCommandsPerMinute / 60, (number) => lending.changeEarlierLoan(number));
setInterval(() => console.log(JSON.stringify(counts.take())), settings.secondsPerLine * 1_000);
// When the process that reads these lines is gone, however it ended.
process.stdin.resume().on('end', () => process.exit());
