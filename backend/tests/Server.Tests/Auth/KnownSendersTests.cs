using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Listening;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>Addresses with an earlier successful login, in the numbers of a host with hundreds of viewers.</summary>
public sealed class KnownSendersTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Repeated_logins_from_1000_addresses_write_once_each()
    {
        var commits = new CountedCommits();
        await using var database = new SluiceDatabase(
            _temporary.Folder,
            new MigrationRunner(Migration.LoadEmbedded(), _temporary.Folder),
            new SafeMode(NullLogger<SafeMode>.Instance),
            _time,
            commit: commits);
        database.Open();
        var known = new KnownSenders(database, _time);
        Sender[] senders = [.. Enumerable.Range(0, 1000).Select(i => new Sender(AddressPrefix.Of(new IPAddress([10, 0, (byte)(i >> 8), (byte)i]))))];

        for (var round = 0; round < 3; round++)
        {
            foreach (var sender in senders)
                await known.NoteAsync(sender);
        }

        Assert.Equal(senders.Length, commits.Count);
        Assert.All(senders, sender => Assert.True(known.IsKnown(sender)));
    }

    private sealed class CountedCommits : ICommitStep
    {
        public int Count { get; private set; }

        public void Run(SqliteWork transaction)
        {
            transaction.Commit();
            Count++;
        }
    }
}
