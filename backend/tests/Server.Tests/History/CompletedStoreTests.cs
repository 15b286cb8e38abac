using Sluice.Server.Database;
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
        await using SluiceDatabase database = _temporary.OpenDatabase();

        var plan = await database.ReadAsync(
            connection =>
            {
                using var command = connection.CreateCommand();
                command.CommandText = "EXPLAIN QUERY PLAN " + sql;
                foreach (var name in new[] { "@category", "@release", "@key", "@inside", "@behind", "@id" })
                    command.Parameters.AddWithValue(name, "x");
                var steps = new List<string>();
                using var reader = command.ExecuteReader();
                while (reader.Read())
                    steps.Add(reader.GetString(3));
                return steps;
            },
            TestContext.Current.CancellationToken);

        Assert.DoesNotContain(plan, step => step.StartsWith("SCAN", StringComparison.Ordinal));
        Assert.Equal(searches, plan.Count(step => step.StartsWith("SEARCH", StringComparison.Ordinal)));
    }
}
