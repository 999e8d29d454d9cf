/** The filters and sort fields of a list of loans, and their SQL. */

/** Sort fields of loans, in the names of the lending API, and the column of each. */
const sortColumns = {
  id: 'loan_id',
  encodedKey: 'encoded_key',
  loanName: 'loan_name',
  accountHolderKey: 'account_holder_key',
  productTypeKey: 'product_type_key',
  accountState: 'account_state',
  loanAmount: 'loan_amount',
  creationDate: 'creation_date',
  approvedDate: 'approved_date',
  closedDate: 'closed_date',
  lastModifiedDate: 'last_modified_date',
} as const;

export type LoanSortField = keyof typeof sortColumns;

export interface LoanSorting {
  readonly field: LoanSortField;
  readonly descending: boolean;
}

export interface LoanQuery {
  readonly accountState?: string;
  readonly accountHolderId?: string;
  readonly productTypeKey?: string;
  /** In order of priority. Loans that are equal in all of them are ordered by id. */
  readonly sorting: readonly LoanSorting[];
  readonly offset: number;
  readonly limit: number;
}

const isSortField = (name: string): name is LoanSortField => Object.hasOwn(sortColumns, name);

/** Every sort field of loans. */
export const loanSortFields = Object.keys(sortColumns).filter(isSortField);

/** The statements of one query. Both take `values` as their parameters; the page also takes limit and offset. */
export interface LoanQueryStatements {
  readonly page: string;
  readonly count: string;
  readonly values: readonly string[];
}

/**
 * Builds the statements of a query. Only column names of this file enter their text; all client input is a parameter.
 */
export function loanQueryStatements(query: LoanQuery): LoanQueryStatements {
  const filters: [string, string | undefined][] = [
    ['account_state', query.accountState],
    ['account_holder_key', query.accountHolderId],
    ['product_type_key', query.productTypeKey],
  ];
  const activeFilters = filters.filter((filter): filter is [string, string] => filter[1] !== undefined);
  const where =
    activeFilters.length === 0 ? '' : ` WHERE ${activeFilters.map(([column]) => `${column} = ?`).join(' AND ')}`;
  const order = [
    ...query.sorting.map(({ field, descending }) => `${sortColumns[field]} ${descending ? 'DESC' : 'ASC'}`),
    'loan_id ASC',
  ].join(', ');
  return {
    page: `SELECT loan_number, loan_id FROM loans${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
    count: `SELECT count(*) AS total FROM loans${where}`,
    values: activeFilters.map(([, value]) => value),
  };
}
