import { links, pathsOf, rows, type Claim, type EntityPath, type LinksClaim } from './entity-path.js';
import { treeEntities, type TreeKind, type TreeNode } from './tree-entities.js';

type Branch = Pick<TreeNode, 'id' | 'name'> & { readonly children?: readonly Branch[] };

/** A tree as lines, parents before their children. */
function lines({ id, name, children = [] }: Branch, depth = 0): string[] {
  const below = [...children].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [`${depth} ${name} ${id}`, ...below.flatMap((child) => lines(child, depth + 1))];
}

const names = (nodes: readonly TreeNode[]): string =>
  nodes
    .map(({ name }) => name)
    .sort()
    .join();

function tree(entity: new () => TreeNode, pairs: LinksClaim['pairs']): readonly Claim[] {
  return [
    rows(
      entity,
      pairs.map(([node]) => node),
    ),
    links(entity, 'parent', pairs),
  ];
}

/** The ways to plant and read one kind of tree. */
export function treePaths(type: TreeKind): readonly EntityPath[] {
  return pathsOf(treeEntities(type), {
    [`${type}: node by node, read, moved`]: async ({ manager, dataSource, statements, entities: { Saved } }) => {
      const trees = dataSource.getTreeRepository(Saved);
      const [root, child, leaf] = await statements.only(async () => {
        const top = await manager.save(Saved, { name: 'root' });
        const middle = await manager.save(Saved, { name: 'child', parent: top });
        return [top, middle, await manager.save(Saved, { name: 'leaf', parent: middle })] as const;
      });
      const whole = lines({ ...root, children: [{ ...child, children: [leaf] }] });
      expect((await trees.findTrees()).flatMap((each) => lines(each))).toEqual(whole);
      expect(lines(await trees.findDescendantsTree(root))).toEqual(whole);
      expect(names(await trees.findDescendants(child as TreeNode))).toBe('child,leaf');
      expect(names(await trees.findAncestors(leaf as TreeNode))).toBe('child,leaf,root');
      expect((await trees.findAncestorsTree(leaf as TreeNode)).parent!.parent!.id).toBe(root.id);
      expect(await trees.countDescendants(root)).toBe(3);
      expect(await trees.countAncestors(child as TreeNode)).toBe(2);

      const found = await manager.findOneByOrFail(Saved, { id: leaf.id });
      await manager.save(Object.assign(found, { parent: root }));
      const top = await manager.findOneByOrFail(Saved, { id: root.id });
      expect(lines(await trees.findDescendantsTree(top))).toEqual(lines({ ...root, children: [child, leaf] }));
      expect(names(await trees.findAncestors(found))).toBe('leaf,root');
      return tree(Saved, [
        [root, null],
        [child, root],
        [leaf, root],
      ]);
    },
    [`${type}: cascaded through the children`]: async ({ manager, dataSource, statements, entities: { Cascaded } }) => {
      const trees = dataSource.getTreeRepository(Cascaded);
      const root = await statements.only(() =>
        manager.save(Cascaded, { name: 'root', children: [{ name: 'a', children: [{ name: 'b' }] }, { name: 'c' }] }),
      );
      const [a, c] = root.children;
      const [b] = a!.children;
      expect((await trees.findTrees()).flatMap((each) => lines(each))).toEqual(lines(root));
      expect(names(await trees.findAncestors(b as TreeNode))).toBe('a,b,root');
      await manager.remove(await manager.findOneByOrFail(Cascaded, { id: c!.id }));
      return tree(Cascaded, [
        [root, null],
        [a!, root],
        [b!, a!],
      ]);
    },
  });
}
