namespace Sluice.Server.WebDav.Tree;

/// <summary>A folder of <c>/.ids</c>.</summary>
/// <param name="name">Its name: one digit, or that of the root.</param>
/// <param name="prefix">The digits that all ids in it begin with.</param>
/// <param name="branch">Reads it.</param>
/// <param name="since">Its date.</param>
/// <param name="usedBytes">What a quota is about.</param>
internal sealed class IdFolder(
    string name, string prefix, IdBranch branch, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(name, since, usedBytes)
{
    /// <inheritdoc />
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct) => branch.ListAsync(prefix, ct);
}
