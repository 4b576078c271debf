const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const { longest } = require('./tiers.cjs');

/** Jest's own order (what failed, then by the time taken last), but `longest` of tiers.cjs before all others. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path, context }) => {
      const name = relative(context.config.rootDir, path);
      const at = longest.findIndex((each) => name.startsWith(each));
      return at === -1 ? longest.length : at;
    };
    return [...super.sort(tests)].sort((a, b) => place(a) - place(b));
  }
};
