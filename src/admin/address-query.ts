import { address, navigate, base, type NavigateOptions } from './navigation.ts';

/** What a page shows, kept in the query of its address: it can be shared, and going back finds it again. */
export interface AddressQuery {
  /** The value of a parameter; empty when it is not in the address. */
  readonly get: (name: string) => string;
  /** Changes parameters; an empty value removes one. */
  readonly set: (changes: Readonly<Record<string, string>>, options?: NavigateOptions) => void;
}

export function useAddressQuery(): AddressQuery {
  const { search } = address.value;
  const query = new URLSearchParams(search);
  return {
    get: (name) => query.get(name) ?? '',
    set(changes, options = {}) {
      // Of the address now, not of the one that was drawn: two changes may follow each other.
      const after = new URLSearchParams(address.value.search);
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') after.delete(name);
        else after.set(name, value);
      }
      const text = after.toString();
      const { pathname } = address.value;
      if (text !== address.value.search) {
        navigate(`${pathname.slice(base.length)}${text === '' ? '' : `?${text}`}`, options);
      }
    },
  };
}

/** How a list is ordered. */
export interface ListOrder {
  readonly column: string;
  readonly descending: boolean;
}

export interface ListState {
  readonly search: string;
  /** Undefined: the list's own order. */
  readonly order: ListOrder | undefined;
  /** From 0. */
  readonly page: number;
  readonly setSearch: (words: string) => void;
  readonly setOrder: (order: ListOrder | undefined) => void;
  readonly setPage: (page: number) => void;
}

/** The search, the order and the page of a list, in the query of the address. */
export function useListState(): ListState {
  const query = useAddressQuery();
  const sort = query.get('sort');
  const page = Number(query.get('page'));
  return {
    search: query.get('search'),
    order: sort === '' ? undefined : { column: sort.replace(/^-/, ''), descending: sort.startsWith('-') },
    page: Number.isInteger(page) && page > 1 ? page - 1 : 0,
    setSearch: (search) => query.set({ search, page: '' }, { replace: true }),
    setOrder: (order) =>
      query.set({ sort: order === undefined ? '' : `${order.descending ? '-' : ''}${order.column}`, page: '' }),
    setPage: (page) => query.set({ page: page === 0 ? '' : String(page + 1) }),
  };
}
