using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// A stream owes the proof for bytes that it served before their article was verified. Whatever happens to their segment, no read reaches
/// the end of its range before the proof has arrived (F18), and only the owed articles stay in memory for it (F02).
/// </summary>
public sealed class UnprovedBytesTests : EarlyReads
{
    /// <summary>Events for the segment of early bytes, before the next read or instead of it.</summary>
    public enum Way
    {
        Nothing,
        TrimmedWhenIdle,
        DroppedWhenIdle,
        PausedForHours,
        PausedTwice,
        OthersOpenStreams,
        SoughtElsewhere,
        SoughtElsewhereAndBack,
        SoughtElsewhereThenPaused,
        HintedThenSought,
        SkippedInsideTheWindow,
        SharedWithAReaderWhoLeaves,
        SharedWithAReaderWhoComes,
        ReadCancelled,
    }

    public static MatrixTheoryData<Way, bool> Ways => new(Enum.GetValues<Way>(), [false, true]);

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task F18_Range_with_corrupt_unproved_bytes_never_completes(Way way, bool isUnderWay)
    {
        await using var film = new SteppedFilm(parts: 3, time: Time);
        await using var stream = film.Open();
        var read = new byte[film.Bytes.Length];
        var fetch = await ReadEarlyAsync(film, stream, read);
        if (isUnderWay)
            Answer(film);
        else
            await FailAsync(film, fetch);
        await Assert.ThrowsAnyAsync<IOException>(async () =>
        {
            await HappenAsync(way, film, stream);
            if (isUnderWay && !fetch.IsCancelled)
                DeliverCorrupt(film, fetch);
            await ReadToEndAsync(stream, read);
        });
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task F18_Range_with_correct_unproved_bytes_always_completes(Way way, bool isUnderWay)
    {
        await using var film = new SteppedFilm(parts: 3, time: Time);
        await using var stream = film.Open();
        var read = new byte[film.Bytes.Length];
        var reading = stream.ReadExactlyAsync(read, 0, Early, Token).AsTask();
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body()[..Landed]);
        await reading;
        Answer(film);
        if (!isUnderWay)
            Finish(film, fetch);
        await HappenAsync(way, film, stream);
        if (isUnderWay)
        {
            Assert.False(fetch.IsCancelled);
            Finish(film, fetch);
        }

        await ReadToEndAsync(stream, read);
        var seen = (int)stream.Position;
        Assert.Equal(film.Bytes.Length, seen);
        Assert.True(film.Bytes.AsSpan(0, Early).SequenceEqual(read.AsSpan(0, Early)));
        Assert.True(film.Bytes.AsSpan((2 * Part) + 1).SequenceEqual(read.AsSpan((2 * Part) + 1)));
    }

    [Fact]
    public async Task F18_Paused_range_in_its_first_segment_fails_if_corrupt()
    {
        await using var film = new SteppedFilm(time: Time);
        await using var stream = film.Open(0, 50_000);
        var read = new byte[50_000];
        var fetch = await ReadEarlyAsync(film, stream, read);
        await FailAsync(film, fetch);
        Pause(4);
        await Assert.ThrowsAnyAsync<IOException>(() => ReadToEndAsync(stream, read));
    }

    [Fact]
    public async Task F18_Unproved_bytes_are_verified_across_volume_boundaries()
    {
        await using var film = new SteppedFilm(parts: 2, time: Time);
        FileExtent[] volumes = [new(film.File, 0, Part - 100_000), new(film.File, Part, Part)];
        await using var stream = film.Engine.Open(volumes, OperationLane.Playback);
        var read = new byte[volumes.Sum(volume => volume.Length)];
        var fetch = await ReadEarlyAsync(film, stream, read);
        await FailAsync(film, fetch);
        Pause(4);
        await Assert.ThrowsAnyAsync<IOException>(() => ReadToEndAsync(stream, read));
    }

    [Fact]
    public async Task F18_Map_correction_does_not_verify_earlier_bytes()
    {
        var correction = new Correction(SegmentMap.FromLengths([Part - 500, Part + 500]));
        await using var film = new SteppedFilm(parts: 2, time: Time);
        var file = new PostedFile(film.File.Map, film.File.Ids) { Correction = correction };
        await using var stream = film.Open(file: file);
        var read = new byte[2 * Part];
        var fetch = await ReadEarlyAsync(film, stream, read);
        DeliverCorrupt(film, fetch);

        // The second copy is intact and declares a shorter first part. All further answers follow the new map.
        Answer(film, request => request.Id.ToString().Contains("0@", StringComparison.Ordinal) ? TruePart(film, 0, Part - 500) : TruePart(film, Part - 500, Part + 500));
        await Assert.ThrowsAnyAsync<IOException>(() => ReadToEndAsync(stream, read));
        await film.Engine.DisposeAsync();
    }

    [Fact]
    public async Task F18_Unproved_bytes_after_a_disk_cache_hit_are_verified()
    {
        var folder = Directory.CreateTempSubdirectory("sluice-owed-").FullName;
        try
        {
            var options = new DiskCacheOptions(folder);
            await using (var disk = new DiskSegmentCache(options, NullLoggerFactory.Instance))
            {
                await using var film = new SteppedFilm(disk: disk);
                await using (var stream = film.Open(0, BlockPool.BlockSize))
                {
                    var reading = film.AssertReadsAsync(stream, 0, BlockPool.BlockSize, Token);
                    var fetch = await film.Source.NextAsync(Token);
                    fetch.Deliver(film.Body());
                    fetch.Finish();
                    await reading;
                }

                await Eventually.HoldsAsync(() => disk.Files == 1, () => $"{disk.Files} files", Token);
            }

            await using var kept = new DiskSegmentCache(options, NullLoggerFactory.Instance);
            await using var again = new SteppedFilm(time: Time, disk: kept);
            await using var resumed = again.Open();
            var read = new byte[Part];
            var body = again.Body().ToArray();
            body[70_000] = (byte)(body[70_000] == 'a' ? 'b' : 'a');
            await again.AssertReadsAsync(resumed, 0, BlockPool.BlockSize, Token);
            var early = resumed.ReadExactlyAsync(read, BlockPool.BlockSize, Early, Token).AsTask();
            var corrupt = await again.Source.NextAsync(Token);
            corrupt.Deliver(body.AsSpan(0, Landed));
            await early;
            Answer(again);
            corrupt.Deliver(body.AsSpan(Landed));
            corrupt.Finish();
            Pause(4);
            await Assert.ThrowsAnyAsync<IOException>(() => ReadToEndAsync(resumed, read));
            await resumed.DisposeAsync();
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task F18_Settings_change_does_not_verify_earlier_bytes()
    {
        using var memory = new StreamMemory(Time);
        await using var film = new SteppedFilm(parts: 1, time: Time, memory: memory);
        await using var stream = film.Open();
        var read = new byte[Part];
        var fetch = await ReadEarlyAsync(film, stream, read);
        await using var strict = film.NewEngine(new StreamOptions { ProbeBytes = 64 * 1024, VerifyBeforeServe = true }, memory);
        await using (var other = strict.Open([FileExtent.Whole(film.File)], OperationLane.Playback))
        {
            var reading = film.AssertReadsAsync(other, 0, Part, Token);
            var good = await film.Source.NextAsync(Token);
            good.Deliver(film.Body());
            good.Finish();
            await reading;
        }

        Answer(film);
        Pause(4);
        if (!fetch.IsCancelled)
            DeliverCorrupt(film, fetch);
        await Assert.ThrowsAnyAsync<IOException>(() => ReadToEndAsync(stream, read));
    }

    [Fact]
    public async Task F18_Missing_article_after_unproved_bytes_fails_the_stream()
    {
        await using var film = new SteppedFilm(parts: 3, time: Time);
        await using var stream = film.Open();
        var fetch = await ReadEarlyAsync(film, stream, new byte[Early]);
        stream.Position = 2 * Part;
        var reading = film.AssertReadsAsync(stream, 2 * Part, 1000, Token);
        var target = await film.Source.NextAsync(Token);
        target.Deliver(film.Body(2));
        target.Finish();
        await reading;
        fetch.Miss();
        stream.Position = (3 * Part) - 1;
        await Assert.ThrowsAnyAsync<IOException>(() => stream.ReadExactlyAsync(new byte[1], Token).AsTask());
        stream.Position = Part;
        await Assert.ThrowsAnyAsync<IOException>(() => stream.ReadExactlyAsync(new byte[1000], Token).AsTask());
    }

    private async Task HappenAsync(Way way, SteppedFilm film, ReadOnlyStream stream)
    {
        var one = new byte[1];
        switch (way)
        {
            case Way.TrimmedWhenIdle:
                Pause(1);
                break;
            case Way.DroppedWhenIdle:
                Pause(4);
                break;
            case Way.PausedForHours:
                Pause(720);
                break;
            case Way.PausedTwice:
                Pause(3);
                stream.Position = 2 * Part;
                await stream.ReadExactlyAsync(one, Token);
                Pause(4);
                stream.Position = Early;
                Pause(4);
                break;
            case Way.OthersOpenStreams:
                for (var i = 0; i < 10; i++)
                    await film.Open().DisposeAsync();
                break;
            case Way.SoughtElsewhere:
                stream.Position = 2 * Part;
                break;
            case Way.SoughtElsewhereAndBack:
                stream.Position = 2 * Part;
                await stream.ReadExactlyAsync(one, Token);
                stream.Position = Early;
                break;
            case Way.SoughtElsewhereThenPaused:
                stream.Position = 2 * Part;
                await stream.ReadExactlyAsync(one, Token);
                Pause(4);
                break;
            case Way.HintedThenSought:
                stream.HintSeek(2 * Part);
                stream.Position = 2 * Part;
                await stream.ReadExactlyAsync(one, Token);
                break;
            case Way.SkippedInsideTheWindow:
                stream.Position = Early + 50_000;
                await stream.ReadExactlyAsync(one, Token);
                stream.Position = Early;
                break;
            case Way.SharedWithAReaderWhoLeaves:
                await using (var other = film.Open(1000))
                {
                    await other.ReadExactlyAsync(one, Token);
                    Pause(4);
                }

                break;
            case Way.SharedWithAReaderWhoComes:
                Pause(4);
                await using (var other = film.Open(1000))
                    await other.ReadExactlyAsync(one, Token);
                break;
            case Way.ReadCancelled:
                using (var leave = new CancellationTokenSource())
                {
                    stream.Position = (3 * Part) - 1;
                    await leave.CancelAsync();
                    var cancelled = await Record.ExceptionAsync(() => stream.ReadExactlyAsync(one, leave.Token).AsTask());

                    // If the early bytes have turned out wrong meanwhile, the stream reports that before it checks the token.
                    Assert.True(cancelled is OperationCanceledException or WithdrawnBytesException, $"{cancelled}");
                    stream.Position = Early;
                }

                Pause(4);
                break;
        }
    }

    private static byte[] TruePart(SteppedFilm film, int begin, int length) =>
        TestArticle.OnWire(TestArticle.Part(film.Bytes.AsSpan(begin, length).ToArray(), begin, film.Bytes.Length, begin == 0 ? 1 : 2, 2));

    private sealed class Correction(SegmentMap corrected) : IMapCorrection
    {
        public bool MayBelieve(Segment claim) => true;

        public Task<SegmentMap> CorrectAsync(SegmentMap refuted, Segment claim, CancellationToken cancellationToken) => Task.FromResult(corrected);
    }
}
