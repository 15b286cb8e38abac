using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/.ids</c>: every library file by id. All digit folders always exist, because a client that caches listings would miss a new folder.</summary>
internal sealed class IdBranch(LibraryTree tree, ContentBranch content, PlaybackRegistry playbacks, TimeProvider time)
{
    private readonly DateTimeOffset _since = time.WallTime();

    public IdFolder Root => Folder(TreeNames.Ids, "");

    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        if (names.Count == 0)
            return Root;
        if (IdPath.PrefixOf(names) is { } prefix)
            return Folder(names[^1], prefix);
        if (IdPath.IdOf(names) is not { } id)
            return null;
        var entry = await StoreGuard.RunAsync(() => tree.FindByIdAsync(id, cancellationToken).AsTask());
        return entry is null ? null : Show(entry);
    }

    /// <summary>Lists the children of the folder that has these leading digits, by name.</summary>
    public IAsyncEnumerable<IStoreItem> ListAsync(string prefix, CancellationToken cancellationToken) =>
        prefix.Length < IdPath.Levels
            ? IdPath.Digits.Select(IStoreItem (digit) => Folder(digit.ToString(), prefix + digit)).ToAsyncEnumerable()
            : StoreGuard.ReadAsync(tree.ListByIdAsync(prefix, cancellationToken), cancellationToken).Select(Show);

    private IdFolder Folder(string name, string prefix) => new(name, prefix, this, _since, content.GetUsedBytesAsync);

    private IStoreItem Show(FileEntry entry) => new ContentFile(entry.File, playbacks) { Name = IdPath.NameOf(entry.File.Id) };
}

/// <summary>A folder of <c>/.ids</c>. All ids in it start with <paramref name="prefix"/>.</summary>
internal sealed class IdFolder(
    string name, string prefix, IdBranch branch, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(name, since, usedBytes)
{
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) => branch.ListAsync(prefix, cancellationToken);
}
