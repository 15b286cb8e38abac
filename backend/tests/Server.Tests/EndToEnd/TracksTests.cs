using Sluice.Server.Tests.Database;
using Sluice.Usenet.Media.Tracks;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Tracks of files made by ffmpeg.</summary>
public sealed class TracksTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("a.mkv", "libx265 -pix_fmt yuv420p10le -x265-params log-level=none", "eac3 -ac 6", "", "HEVC 10-bit", "hvc1.2.4.L", "E-AC-3 5.1", "ec-3")]
    [InlineData("b.mkv", "libx264 -profile:v high -pix_fmt yuv420p", "flac -ac 2", "", "H.264", "avc1.6400", "FLAC stereo", "flac")]
    [InlineData("c.webm", "libvpx-vp9 -pix_fmt yuv420p", "libopus -ac 2", "", "VP9", "vp09.00.10.08|vp9", "Opus stereo", "opus")]
    [InlineData("d.mp4", "libx264 -profile:v main -pix_fmt yuv420p", "aac -ac 2", "", "H.264", "avc1.4D40", "AAC stereo", "mp4a.40.2")]
    [InlineData("e.mp4", "libx265 -pix_fmt yuv420p -tag:v hvc1 -x265-params log-level=none", "ac3 -ac 6", "-movflags +faststart", "HEVC", "hvc1.1.6.L", "AC-3 5.1", "ac-3")]
    [InlineData("f.mp4", "mpeg4", "aac -ac 1", "-movflags +frag_keyframe+empty_moov", "MPEG-4 Visual", "mp4v.20.", "AAC mono", "mp4a.40.2")]
    public async Task Tracks_of_an_ffmpeg_file_are_recognized(
        string name, string picture, string sound, string options, string pictureName, string pictureWord, string soundName, string soundWord)
    {
        ExternalProgram.Require("ffmpeg");
        var path = Path.Combine(_folder.Root, name);
        string[] arguments =
        [
            "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25:duration=2", "-f", "lavfi", "-i", "sine=duration=2",
            "-metadata:s:a:0", "language=ger", "-c:v", .. picture.Split(' '), "-c:a", .. sound.Split(' '),
            .. options.Split(' ', StringSplitOptions.RemoveEmptyEntries), path,
        ];
        var made = await ExternalProgram.RunAsync("ffmpeg", arguments, null, Token);
        made.Succeeded();

        await using var file = File.OpenRead(path);
        var read = 0L;
        var found = await TrackReader.ReadAsync(
            async (offset, length, token) =>
            {
                read += length;
                var bytes = new byte[length];
                file.Position = offset;
                await file.ReadExactlyAsync(bytes, token);
                return bytes;
            },
            file.Length,
            Token);

        Assert.Equal(TracksVerdict.Known, found.Verdict);
        Assert.Equal([TrackKind.Video, TrackKind.Audio], found.Tracks.Select(track => track.Kind));
        var (video, audio) = (found.Tracks[0], found.Tracks[1]);
        Assert.Equal((pictureName, 320, 180), (video.Codec, video.Width, video.Height));
        Assert.Contains(pictureWord.Split('|'), word => video.Type!.Contains($"codecs=\"{word}", StringComparison.Ordinal));
        Assert.Equal((soundName, "ger"), (audio.Codec, audio.Language));
        Assert.Contains($"codecs=\"{soundWord}", audio.Type, StringComparison.Ordinal);
        if (!options.Contains("frag", StringComparison.Ordinal))
            Assert.InRange(found.Duration!.Value.TotalSeconds, 1.9, 2.2);
        Assert.InRange(read, 1, TrackReader.MaxRead);
    }
}
