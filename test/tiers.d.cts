export const slow: readonly string[];
export const shared: readonly string[];
export const longest: readonly string[];
