/** What the registry has definitions of. */
export type RegistryKind =
  | 'event-type'
  | 'subscription'
  | 'blacklist-entry'
  | 'feature'
  | 'dealt-with-letter'
  | 'api-key'
  | 'api-key-use'
  | 'toggle'
  | 'product'
  | 'organization'
  | 'branch'
  | 'centre'
  | 'transaction-channel'
  | 'custom-field-set'
  | 'custom-field'
  | 'closed-day'
  | 'followed-calendar';
