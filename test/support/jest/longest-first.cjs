const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const { longest } = require('../../tiers.cjs');

/**
 * `longest` of tiers.cjs first. Of the others, which jest sorts by what failed and by the time taken last, in turn one
 * from the front and one from the back: the long ones wait for databases most of their time, the short ones compute.
 */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path, context }) => {
      const name = relative(context.config.rootDir, path);
      const at = longest.findIndex((each) => name.startsWith(each));
      return at === -1 ? longest.length : at;
    };
    return alternately([...super.sort(tests)]).sort((a, b) => place(a) - place(b));
  }
};

function alternately(tests) {
  const ends = [];
  while (tests.length > 0) ends.push(...tests.splice(0, 1), ...tests.splice(-1, 1));
  return ends;
}
