import { effect } from '@preact/signals';
import { keepPreviousData, QueryClient, useQuery } from '@tanstack/preact-query';
import { type ApiError, apiErrorOf } from './api.ts';
import { connection } from './connection-state.ts';

/** How long a response is kept after its page was left, so that going back shows it at once. */
const keptMilliseconds = 300_000;

/** The responses of the service. A page shows what is here while it requests it again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The banner and the polling try again; a response of the service is shown as it is.
      retry: false,
      networkMode: 'always',
      gcTime: keptMilliseconds,
      refetchOnReconnect: false,
    },
  },
});

let generation = connection.value.generation;
effect(() => {
  if (connection.value.generation === generation) return;
  ({ generation } = connection.value);
  void queries.invalidateQueries();
});

export interface Loaded<Data> {
  /** The last response; kept while the service is unreachable. */
  readonly data: Data | undefined;
  /** Why the last attempt failed; the page's banner reports an unreachable service. */
  readonly error: ApiError | undefined;
  /** Whether there is nothing to show yet: neither a response nor a reason. */
  readonly isLoading: boolean;
  /** Whether the response belongs to the previous key, and the one of this key is under way. */
  readonly isPrevious: boolean;
  /** Requests it again now. */
  readonly reload: () => void;
}

interface LoadOptions {
  /** Shows the previous response until the first one of a new key, such as for the pages of a list. */
  readonly keepsPrevious?: boolean;
  readonly isEnabled?: boolean;
}

/**
 * Requests something from the service and keeps it up to date while it is shown and the tab is visible.
 * @param key Identifies the content, for all pages: another key drops the previous response.
 * @param everyMilliseconds How often to request again; 0 means once.
 */
export function useLoaded<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  everyMilliseconds = 0,
  { keepsPrevious = false, isEnabled = true }: LoadOptions = {},
): Loaded<Data> {
  const { data, error, isPlaceholderData, refetch } = useQuery<Data>(
    {
      queryKey: [key],
      queryFn: ({ signal }) => load(signal),
      refetchInterval: everyMilliseconds > 0 ? everyMilliseconds : false,
      enabled: isEnabled,
      ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
    },
    queries,
  );
  const failure = error === null ? undefined : apiErrorOf(error);
  const isShown = failure !== undefined && (failure.status !== 0 || connection.value.reachable);
  return {
    data,
    error: isShown ? failure : undefined,
    isLoading: isEnabled && data === undefined && !isShown,
    isPrevious: isPlaceholderData,
    reload: () => void refetch(),
  };
}
