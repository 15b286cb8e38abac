using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>Explanations of failed reads.</summary>
public sealed class PlaybackTests
{
    /// <summary>Temporary failures, and whether each one is a failure of the server's own storage.</summary>
    public static TheoryData<Exception, bool> Passing => new()
    {
        { new NntpException(NntpFault.ConnectTimeout, "Below."), false },
        { new FileNotFoundException("Below."), false },
        { new MessageIdListException("Below."), true },
        { StorageException.Full("/data/blobs"), true },
        { new IOException("Below."), true },
        { new UnauthorizedAccessException("Below."), true },
    };

    [Theory]
    [MemberData(nameof(Passing))]
    public void Provider_or_disk_failure_is_explained_as_temporary(Exception failure, bool isOurs) =>
        Assert.Equal(isOurs ? ReadFailure.Unreadable : ReadFailure.Unreachable, Playback.Explain(failure));

    [Fact]
    public void Lost_article_list_is_reported_as_a_lost_file() =>
        Assert.Equal(ReadFailure.Gone, Playback.Explain(new StoredNzbLostException("abc")));

    [Fact]
    public void Unopened_and_refuted_releases_are_not_blamed_on_providers() => Assert.Equal(
        (ReadFailure.Unsettled, ReadFailure.Unsettled, ReadFailure.Refused),
        (Playback.Explain(new ReleaseNotOpenedException("Not yet.", isRefused: false)), Playback.Explain(new RefutedExtentException()), Playback.Explain(new ReleaseNotOpenedException("Never.", isRefused: true))));

    [Fact]
    public void Stream_limit_is_explained_as_busy() => Assert.Equal(ReadFailure.Busy, Playback.Explain(new StreamLimitException(3)));

    [Fact]
    public void Unexpected_exception_is_not_explained()
    {
        Assert.Null(Playback.Explain(new ObjectDisposedException("Below.")));
        Assert.Null(Playback.Explain(new InvalidDataException("Below.")));
        Assert.Null(Playback.Explain(new SqliteException("Below.", 1)));
        Assert.Null(Playback.Explain(new OperationCanceledException()));
    }
}
