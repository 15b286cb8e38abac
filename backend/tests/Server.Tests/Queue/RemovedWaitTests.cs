using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>An item that is removed just when it starts to wait for a provider leaves no timer behind.</summary>
public sealed class RemovedWaitTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Item_removed_as_its_retry_is_scheduled_leaves_no_retry()
    {
        var cancel = TestContext.Current.CancellationToken;
        var time = new RemovingTime(_folder.Folder.Database);
        var unreachable = $$"""{"Providers":[{"Host":"127.0.0.1","Port":{{ServerProcess.FreePort()}},"UseSsl":false}]}""";
        await using var host = await ProductHost.StartAsync(
            _folder, replace: services => services.AddSingleton(services => ActivatorUtilities.CreateInstance<QueueSchedule>(services, time)),
            variables: ("SLUICE_CONFIG__USENET__PROVIDERS", unreachable));

        var id = (await host.AddAsync(MockRelease.Plain(1, 20_000, articleSize: 20_000).ToNzb(), "Rel.nzb", cancel))[0];
        Assert.Equal(1, await time.Removed.WaitAsync(cancel));

        while (host.Get<QueueSchedule>().IsRetrying(id))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, cancel);
        Assert.Equal(0, (await host.CallAsync("mode=queue", cancel)).GetProperty("queue").GetProperty("noofslots").GetInt32());
    }

    /// <summary>The clock of the retries: removes every item just before its timer is created.</summary>
    private sealed class RemovingTime(string database) : TimeProvider
    {
        private readonly TaskCompletionSource<int> _removed = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<int> Removed => _removed.Task;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            using (var connection = new SqliteConnection(new SqliteConnectionStringBuilder { DataSource = database, Pooling = false, DefaultTimeout = 5 }.ToString()))
            {
                connection.Open();
                using var command = connection.CreateCommand();
                command.CommandText = "DELETE FROM queue_item";
                _removed.TrySetResult(command.ExecuteNonQuery());
            }

            return System.CreateTimer(callback, state, dueTime, period);
        }
    }
}
