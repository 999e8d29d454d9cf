import { Gauge, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** How many events of one type a subscription has not committed yet. */
export interface Lag {
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly unconsumedEvents: number;
}

type LagLabel = 'subscription_id' | 'event_type';
type SetValue = MetricValue<LagLabel>;
type Described = MetricObjectWithValues<SetValue>;

/** What the registry of the library writes as a line: a name, which it does not change, and a value. */
interface TextLine {
  readonly metricName: string;
  readonly value: number;
}

/**
 * The lags of all subscriptions as a metric. A gauge of the library keeps an entry for each series, by a text of its
 * labels, and sorts and joins the labels of each one whenever it writes: with ten thousand series that takes 0.2 s of a
 * process that has not compiled the code yet. This one refers to the lags as they were worked out, and writes them in
 * one loop when it is asked.
 */
export class LagGauge extends Gauge<LagLabel> {
  #lags: readonly Lag[] = [];

  /** @param lags They replace those before. */
  setAll(lags: readonly Lag[]): void {
    this.#lags = lags;
  }

  override async get(): Promise<Described> {
    const described = await super.get();
    const values = this.#lags.map(({ subscriptionId, eventType, unconsumedEvents }) => {
      return {
        labels: { subscription_id: subscriptionId, event_type: eventType },
        value: unconsumedEvents,
      };
    });
    return { ...described, values: [...described.values, ...values] };
  }

  /** What the registry of the library asks for when it writes text. All lines up to the last value are one name. */
  async getForPromString(): Promise<
    Omit<Described, 'values'> & {
      readonly values: readonly (SetValue | TextLine)[];
    }
  > {
    const described = await super.get();
    const last = this.#lags.at(-1);
    if (last === undefined) return described;
    const beforeId = `${described.name}{subscription_id="`;
    const afterIds = new Map<string, string>();
    let text = '';
    for (const lag of this.#lags) {
      let afterId = afterIds.get(lag.eventType);
      if (afterId === undefined) afterIds.set(lag.eventType, (afterId = `",event_type="${escaped(lag.eventType)}"}`));
      text += beforeId + escaped(lag.subscriptionId) + afterId;
      if (lag !== last) text += ` ${lag.unconsumedEvents}\n`;
    }
    return {
      ...described,
      values: [...described.values, { metricName: text, value: last.unconsumedEvents }],
    };
  }
}

function escaped(label: string): string {
  if (/^[\w.-]*$/.test(label)) return label;
  return label.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
