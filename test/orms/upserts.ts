import type { Upsert } from './upsert.js';

/** The suite of each ORM takes these in every way that its ORM can write them. */
export const UPSERTS: readonly Upsert[] = [
  { row: 'upsert, another key', statement: 'single', key: 'another', by: 'code', sets: 'others' },
  { row: 'upsert, another key, bulk', statement: 'bulk', key: 'another', by: 'code', sets: 'others' },
  { row: 'upsert, another key, from a query', statement: 'query', key: 'another', by: 'code', sets: 'others' },
  { row: 'upsert to another key', statement: 'single', key: 'another', by: 'code', sets: 'new key' },
  { row: 'upsert to another key, bulk', statement: 'bulk', key: 'another', by: 'code', sets: 'new key' },
  { row: 'upsert to another key, from a query', statement: 'query', key: 'another', by: 'code', sets: 'new key' },
  { row: 'upsert to another key, as a value', statement: 'single', key: 'another', by: 'code', sets: 'value' },
  { row: 'upsert by the key', statement: 'single', key: 'same', by: 'id', sets: 'others' },
  { row: 'upsert by the key, to itself', statement: 'single', key: 'same', by: 'id', sets: 'new key' },
  { row: 'upsert by the key, to itself, as a value', statement: 'single', key: 'same', by: 'id', sets: 'value' },
  { row: 'upsert by the key, to another key', statement: 'single', key: 'same', by: 'id', sets: 'third value' },
  { row: 'upsert by another key, the code is taken', statement: 'single', key: 'another', by: 'id', sets: 'others' },
  { row: 'upsert by and to another key', statement: 'single', key: 'another', by: 'id', sets: 'new key' },
  { row: 'replace, another key', statement: 'replace', key: 'another', by: 'code', sets: 'new key' },
  { row: 'merge to another key', statement: 'merge', key: 'another', by: 'code', sets: 'new key' },
  { row: 'merge by the key, to itself', statement: 'merge', key: 'same', by: 'id', sets: 'new key' },
];
