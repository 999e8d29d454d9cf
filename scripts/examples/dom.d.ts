/** What the example page uses of a browser. The compiler's library for browsers would be in the way everywhere else. */
interface StreamEvent {
  readonly data: string;
  readonly lastEventId: string;
}

declare class EventSource {
  constructor(url: string | URL);
  addEventListener(type: string, listener: (event: StreamEvent) => void): void;
  close(): void;
}
