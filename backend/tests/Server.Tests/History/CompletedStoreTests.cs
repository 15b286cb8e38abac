using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.History;

public sealed class CompletedStoreTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData(CompletedStore.FindSql, 4)]
    [InlineData(LibraryStore.FindByIdSql, 2)]
    public async Task Path_query_uses_indexes_only(string sql, int searches)
    {
        await using var database = _temporary.OpenDatabase();

        var plan = await database.ExplainAsync(sql, new { category = "x", release = "x", key = "x", inside = "x", behind = "x", id = "x" });

        Assert.DoesNotContain(plan, step => step.StartsWith("SCAN", StringComparison.Ordinal));
        Assert.Equal(searches, plan.Count(step => step.StartsWith("SEARCH", StringComparison.Ordinal)));
    }
}
