import { Column, Entity, Tree, TreeChildren, TreeParent, type Relation } from 'typeorm';
import { entityFamily, type ColumnMaker, type EntityFamily } from './entity-family.js';
import type { Id } from './property-form.js';

export type TreeKind = 'closure-table' | 'materialized-path' | 'nested-set';

export interface TreeNode {
  id: Id;
  name: string;
  children: TreeNode[];
  parent: TreeNode | null;
}

type NodeClass = new () => TreeNode;

/** A table for each path: a nested set has one root only. */
export function treeEntities(type: TreeKind): EntityFamily<{ Saved: NodeClass; Cascaded: NodeClass }> {
  return entityFamily(type, (make) => ({
    Saved: nodeOf(type, 'saved', make),
    Cascaded: nodeOf(type, 'cascaded', make),
  }));
}

function nodeOf(type: TreeKind, table: string, { generated }: ColumnMaker): NodeClass {
  @Entity(`${type.replace('-', '_')}_${table}`)
  @Tree(type)
  class Node implements TreeNode {
    @generated()
    id!: Id;

    @Column({ type: 'varchar', length: 20 })
    name!: string;

    @TreeChildren({ cascade: true })
    children!: Relation<Node>[];

    @TreeParent()
    parent!: Relation<Node> | null;
  }
  // TypeORM joins a nested set by the name of its class.
  return Object.defineProperty(Node, 'name', { value: `Node_${table}` });
}
