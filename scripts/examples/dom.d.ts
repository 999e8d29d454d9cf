/** What the example page uses of a browser. The compiler's library for browsers would be in the way everywhere else. */
declare class EventSource {
  constructor(url: string | URL);
  addEventListener(type: string, listener: (event: { readonly data: string }) => void): void;
  close(): void;
}
