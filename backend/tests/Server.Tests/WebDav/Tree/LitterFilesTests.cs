using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Tree;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

public sealed class LitterFilesTests
{
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Desktop_metadata_file_is_kept_for_an_hour()
    {
        var files = new LitterFiles(_time);

        Assert.Equal(StoreAnswer.Created, await files.PutAsync("tv", "._a", Upload(3), Token));
        Assert.Equal(StoreAnswer.Done, await files.PutAsync("tv", "._a", Upload(5), Token));
        Assert.Equal(StoreAnswer.AlreadyExists, await files.PutAsync("tv", "._a", Upload(7, mayReplace: false), Token));
        Assert.Equal(5, files.Find("tv", "._a")!.Length);
        Assert.Null(files.Find("movies", "._a"));
        _time.Advance(TimeSpan.FromHours(1) - TimeSpan.FromTicks(1));
        Assert.NotNull(files.Find("tv", "._a"));
        _time.Advance(TimeSpan.FromTicks(1));

        Assert.Null(files.Find("tv", "._a"));
        Assert.False(files.Remove("tv", "._a"));
        Assert.Equal(StoreAnswer.Created, await files.PutAsync("tv", "._a", Upload(7, mayReplace: false), Token));
        Assert.True(files.Remove("tv", "._a"));
        Assert.Null(files.Find("tv", "._a"));
    }

    [Theory]
    [InlineData(-730)]
    [InlineData(730)]
    public async Task F43_Wall_clock_change_does_not_change_file_expiry(int days)
    {
        var files = new LitterFiles(_time);
        await files.PutAsync("tv", "._a", Upload(3), Token);
        _time.SetWallClock(TimeSpan.FromDays(days));
        _time.Advance(TimeSpan.FromHours(1) - TimeSpan.FromTicks(1));
        Assert.NotNull(files.Find("tv", "._a"));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Null(files.Find("tv", "._a"));
    }

    [Theory]
    [InlineData(0, nameof(StoreAnswer.Created))]
    [InlineData(LitterFiles.MaxLength, nameof(StoreAnswer.Created))]
    [InlineData(LitterFiles.MaxLength + 1, nameof(StoreAnswer.TooLarge))]
    public async Task Desktop_metadata_file_length_is_limited(int length, string expected)
    {
        var files = new LitterFiles(_time);

        Assert.Equal(expected, (await files.PutAsync("tv", "._a", Upload(length), Token)).ToString());
        Assert.Equal(expected == nameof(StoreAnswer.Created), files.Find("tv", "._a")?.Length == length);
    }

    [Fact]
    public async Task File_count_is_limited_and_the_oldest_is_dropped()
    {
        var files = new LitterFiles(_time);
        for (var i = 0; i <= 100; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            await files.PutAsync("tv", "._" + i, Upload(1), Token);
        }

        Assert.Null(files.Find("tv", "._0"));
        Assert.Equal(100, Enumerable.Range(0, 101).Count(i => files.Find("tv", "._" + i) is not null));
    }

    private static StoreUpload Upload(int length, bool mayReplace = true) => new(new MemoryStream(new byte[length]), length, mayReplace);
}
