import type { Options } from '@swc/core';

export const swc: Options;
export const packages: Readonly<Record<string, string>>;
