import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Responses, Schemas } from '../../contract.ts';
import { callExactPage, callPage } from '../api/api.ts';
import { listPath } from '../api/api-lists.ts';
import { favourites } from '../favourites.ts';
import { navigate, path } from '../navigation.ts';
import { useSettled } from '../settled.ts';
import { useLoaded } from '../api/queries.ts';
import { loadProducts } from '../pages/products.tsx';
import { subscriptionName } from '../parts/subscription/subscription-name.tsx';

/** How many results of one kind are shown. */
const resultsPerKind = 8;

/** Results stay in sight until there are new ones. */
const previous = { keepsPrevious: true };

interface Result {
  readonly kind: string;
  readonly name: string;
  readonly to: string;
}

const places: readonly Result[] = [
  { kind: 'Page', name: 'Overview', to: '/' },
  { kind: 'Page', name: 'Event types', to: '/event-types' },
  { kind: 'Page', name: 'Define an event type', to: '/event-types/+new' },
  { kind: 'Page', name: 'Subscriptions', to: '/subscriptions' },
  { kind: 'Page', name: 'Loans', to: '/loans' },
  { kind: 'Page', name: 'Open a loan', to: '/loans/+new' },
  { kind: 'Page', name: 'Products', to: '/products' },
  { kind: 'Page', name: 'Create a product', to: '/products/+new' },
  { kind: 'Page', name: 'Toggles', to: '/toggles' },
];

/** Whether a key press is meant for a field. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.shadowRoot !== null || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Finds pages, event types, subscriptions, loans and products by a part of their names. The key / opens it. */
export function GlobalSearch(): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      setIsOpen(true);
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button class="search-button" onClick={() => setIsOpen(true)} aria-keyshortcuts="/">
        Search <kbd aria-hidden="true">/</kbd>
      </button>
      {isOpen ? <SearchDialog onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

function SearchDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState(0);
  const id = useId();
  // In the layout effect: the next key press belongs to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const { results, isSearching } = useResults(words.trim().toLowerCase());
  const current = Math.min(chosen, Math.max(0, results.length - 1));
  const open = (result: Result | undefined): void => {
    if (result === undefined) return;
    onClose();
    navigate(result.to);
  };
  const move = (steps: number): void => {
    const next = (current + steps + results.length) % Math.max(1, results.length);
    setChosen(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <dialog ref={dialog} class="search-dialog" aria-label="Search everything" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        list={undefined}
        aria-label="Search everything"
        aria-expanded={results.length > 0}
        aria-controls={`${id}-results`}
        {...(results.length > 0 ? { 'aria-activedescendant': `${id}-${current}` } : {})}
        placeholder="Event type, subscription, loan, product or page"
        autocomplete="off"
        spellcheck={false}
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (steps !== undefined) {
            event.preventDefault();
            move(steps);
          } else if (event.key === 'Enter') open(results[current]);
        }}
      />
      <ul role="listbox" id={`${id}-results`} aria-label="Results">
        {results.map((result, index) => (
          <li
            key={`${result.kind} ${result.to}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => open(result)}
          >
            <span>{result.name}</span>
            <small class="muted">{result.kind}</small>
          </li>
        ))}
      </ul>
      <p class="muted" role="status">
        {results.length > 0 ? '↑ ↓ to choose, Enter to open' : isSearching ? 'Searching …' : 'Nothing found.'}
      </p>
    </dialog>
  );
}

function useResults(words: string): { readonly results: readonly Result[]; readonly isSearching: boolean } {
  const wanted = useSettled(words);
  const query = { q: wanted, limit: resultsPerKind };
  const typesPath = listPath('/event-types', { ...query, sort: 'built_in' });
  const types = useLoaded(typesPath, (signal) => callPage<Schemas['EventType']>(typesPath, signal), 0, previous);
  const subscriptionsPath = listPath('/subscriptions', query);
  const subscriptions = useLoaded(
    subscriptionsPath,
    (signal) => callPage<Schemas['Subscription']>(subscriptionsPath, signal),
    0,
    previous,
  );
  const products = useLoaded('products', loadProducts);
  const search = { sortingCriteria: { field: 'creationDate', order: 'DESC' } };
  const loans = useLoaded(
    `loans-with ${wanted}`,
    (signal) => callExactPage<Responses['getLoan']>('POST', listPath('/loans:search', query), search, { signal }),
    0,
    { ...previous, isEnabled: wanted !== '' },
  );
  const having = (results: readonly Result[]): readonly Result[] =>
    results.filter(({ name, to }) => `${name} ${to}`.toLowerCase().includes(words)).slice(0, resultsPerKind);
  const results = [
    ...having(favourites.value.map(({ to, name }) => ({ kind: 'Favourite', name, to }))),
    ...having(places),
    ...having(
      (types.data?.items ?? []).map(({ name }) => ({ kind: 'Event type', name, to: path('event-types', name) })),
    ),
    ...having(
      (subscriptions.data?.items ?? []).map((subscription) => ({
        kind: 'Subscription',
        name: subscriptionName(subscription),
        to: path('subscriptions', subscription.id),
      })),
    ),
    ...(words === '' ? [] : (loans.data?.items ?? [])).map(({ id }) => ({
      kind: 'Loan',
      name: id,
      to: path('loans', id),
    })),
    ...having(
      (products.data?.items ?? []).map(({ id, name }) => ({
        kind: 'Product',
        name: `${name} (${id})`,
        to: path('products', id),
      })),
    ),
  ];
  return { results, isSearching: [types, subscriptions, products, loans].some(({ isLoading }) => isLoading) };
}
