import { basename } from 'node:path'

import ts from 'typescript'

/** A declaration of the public surface, whether it is exported or only reached from what is. */
export interface Declared {
  readonly name: string
  readonly node: ts.Declaration
}

export interface EntrySurface {
  readonly entry: string
  readonly exported: readonly Declared[]
  /** What no entry exports, and types of exported declarations name. */
  readonly reached: readonly Declared[]
}

/** What each entry exports, and the types behind it. What an entry before has shown is left out. */
export function surfaceOf(program: ts.Program, entries: Readonly<Record<string, string>>): readonly EntrySurface[] {
  const checker = program.getTypeChecker()
  const shown = new Set<ts.Declaration>()
  const aliased = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const exportsOf = (file: string) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!) // an entry is a module
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module)
    return symbols.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
  const declared = (name: string, symbol: ts.Symbol): Declared[] =>
    (symbol.declarations ?? [])
      .filter((node) => isOurs(node) && !ts.isTypeParameterDeclaration(node))
      .map((node) => ({ name, node }))
  const all = Object.entries(entries).map(([entry, file]) => ({
    entry,
    exported: exportsOf(file).flatMap((symbol) => declared(symbol.name, aliased(symbol))),
  }))
  const exportedNodes = new Set(all.flatMap(({ exported }) => exported.map(({ node }) => node)))

  return all.map(({ entry, exported }) => {
    const fresh = exported.filter(({ node }) => !shown.has(node))
    for (const { node } of fresh) shown.add(node)
    const reached: Declared[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) {
        const symbol = checker.getSymbolAtLocation(node)
        const found = symbol === undefined ? [] : declared(aliased(symbol).name, aliased(symbol))
        for (const each of found) {
          if (!isTopLevel(each.node) || shown.has(each.node) || exportedNodes.has(each.node)) continue
          shown.add(each.node)
          reached.push(each)
          visit(each.node)
        }
      }
      ts.forEachChild(node, visit)
    }
    for (const { node } of fresh) visit(node)
    return { entry, exported: fresh, reached: reached.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
  })
}

function isOurs(node: ts.Node): boolean {
  return node.getSourceFile().fileName.includes('/dist/')
}

function isTopLevel(node: ts.Declaration): boolean {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node
  return ts.isSourceFile(statement.parent)
}

/** The surface as one text: declarations without comments, entry by entry. */
export function reportOf(surface: readonly EntrySurface[]): string {
  const printer = ts.createPrinter({ removeComments: true })
  const textOf = ({ node }: Declared) =>
    printer
      .printNode(
        ts.EmitHint.Unspecified,
        ts.isVariableDeclaration(node) ? node.parent.parent : node,
        node.getSourceFile(),
      )
      .replace(/^(export )?(declare )?/, '')
      .replace(/\w+\$\d+/g, (name) => name.replace(/\$\d+$/, ''))
  const block = (all: readonly Declared[]) => `\`\`\`ts\n${[...new Set(all.map(textOf))].join('\n\n')}\n\`\`\`\n`
  const sections = surface.map(({ entry, exported, reached }) =>
    [
      `## ${entry}\n`,
      exported.length === 0 ? 'Exports what entries above export.\n' : block(exported),
      ...(reached.length === 0 ? [] : ['Behind these, not exported:\n', block(reached)]),
    ].join('\n'),
  )
  return [
    '# The public surface\n',
    'Made from the declarations that are built. `npm run api` renews this file.\n',
    ...sections,
  ].join('\n')
}

/** Members of interfaces, classes and object types without a sentence of their own: `Endpoint.request`. */
export function undocumented(declarations: readonly Declared[]): {
  readonly count: number
  readonly bare: readonly string[]
} {
  const bare: string[] = []
  let count = 0
  for (const { name, node } of declarations) {
    if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) continue
    const told = new Set<string>()
    for (const member of node.members as ts.NodeArray<ts.TypeElement | ts.ClassElement>) {
      if (member.name === undefined || ts.isPrivateIdentifier(member.name)) continue
      const key = member.name.getText()
      // Of overloads the first one speaks for all.
      if (ts.getJSDocCommentsAndTags(member).length > 0) told.add(key)
      count++
      if (!told.has(key)) bare.push(`${name}.${key} (${basename(node.getSourceFile().fileName)})`)
    }
  }
  return { count, bare: [...new Set(bare)] }
}
