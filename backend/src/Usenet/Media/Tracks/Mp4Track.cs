using System.Buffers.Binary;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>Collects one MP4 track from its boxes (ISO/IEC 14496-12 sections 8.3 to 8.5).</summary>
internal sealed class Mp4Track
{
    // Lengths of the fixed parts of sample entries including heads (sections 12.1.3 and 12.2.3).
    private const int PictureEntry = 86;
    private const int SoundEntry = 36;

    private uint _handler;
    private bool _isEnabled;
    private string? _language;
    private MediaTrack? _track;
    private Mp4Tables _tables = new();

    /// <summary>Whether the boxes read so far show timed text.</summary>
    public bool HasText => _track?.Source is not null;

    public void Take(uint type, ReadOnlySpan<byte> bytes)
    {
        if (type == Mp4Head.Of("tkhd"u8))
            _isEnabled = bytes.Length >= 4 && (bytes[3] & 1) != 0;
        else if (type == Mp4Head.Of("mdhd"u8))
            (_language, _tables) = (_language ?? PackedLanguage(bytes), _tables with { TimeScale = TimeScale(bytes) });
        else if (type == Mp4Head.Of("elng"u8) && bytes.Length > 4)
            _language = HeaderText.Of(bytes[4..]) ?? _language;
        else if (type == Mp4Head.Of("hdlr"u8) && bytes.Length >= 12)
            _handler = Mp4Head.Of(bytes[8..]);
        else if (type == Mp4Head.Of("stsd"u8) && bytes.Length > 8)
            _track = Describe(bytes[8..]);
        else if (Mp4Tables.Has(type))
            _tables = _tables.With(type, bytes);
    }

    /// <summary>Returns the track; null if it is not video, audio or subtitles.</summary>
    /// <param name="filmScale">Time units per second in the track's edit list; 0 if the track's tables were not read.</param>
    public MediaTrack? Read(uint filmScale)
    {
        if (_track is null)
            return null;
        var source = _track.Source is { } text && filmScale > 0 ? text with { Tables = _tables with { FilmScale = filmScale } } : _track.Source;
        return _track with { Language = HeaderText.LanguageOf(_language), IsDefault = _isEnabled, Source = source };
    }

    /// <summary>Reads the time units per second from <c>mdhd</c> (section 8.4.2); 0 if the box is too short.</summary>
    private static uint TimeScale(ReadOnlySpan<byte> bytes)
    {
        var at = bytes.Length > 0 && bytes[0] == 1 ? 20 : 12;
        return bytes.Length < at + 4 ? 0 : BinaryPrimitives.ReadUInt32BigEndian(bytes[at..]);
    }

    /// <summary>Decodes three letters of five bits (section 8.4.2); null for QuickTime's numeric codes.</summary>
    private static string? PackedLanguage(ReadOnlySpan<byte> bytes)
    {
        var at = bytes.Length > 0 && bytes[0] == 1 ? 32 : 20;
        if (bytes.Length < at + 2)
            return null;
        var packed = BinaryPrimitives.ReadUInt16BigEndian(bytes[at..]);
        Span<char> letters = [(char)(((packed >> 10) & 31) + 0x60), (char)(((packed >> 5) & 31) + 0x60), (char)((packed & 31) + 0x60)];
        return letters.ContainsAnyExceptInRange('a', 'z') ? null : new string(letters);
    }

    private MediaTrack? Describe(ReadOnlySpan<byte> entries)
    {
        if (!Mp4Head.TryRead(entries, out var head) || head.Length != 8)
            return null;
        var entry = entries[..(int)Math.Min(head.Size == 0 ? entries.Length : head.Size, entries.Length)];
        return _handler switch
        {
            _ when _handler == Mp4Head.Of("vide"u8) => Picture(entry),
            _ when _handler == Mp4Head.Of("soun"u8) => Sound(entry),
            _ when _handler == Mp4Head.Of("sbtl"u8) || _handler == Mp4Head.Of("subt"u8) || _handler == Mp4Head.Of("subp"u8) || _handler == Mp4Head.Of("text"u8) =>
                Text(HeaderText.CodeOf(entry[4..])),
            _ => null,
        };
    }

    private static MediaTrack? Picture(ReadOnlySpan<byte> entry)
    {
        if (entry.Length < PictureEntry)
            return null;
        var inner = entry[PictureEntry..];
        var codec = Mp4Codec.OfPicture(CodeOf(entry, inner), inner);
        return new MediaTrack(TrackKind.Video, codec.Name, codec.Type)
        {
            Width = BinaryPrimitives.ReadUInt16BigEndian(entry[32..]),
            Height = BinaryPrimitives.ReadUInt16BigEndian(entry[34..]),
        };
    }

    private static MediaTrack? Sound(ReadOnlySpan<byte> entry)
    {
        if (entry.Length < SoundEntry)
            return null;
        // QuickTime has two longer versions; version 2 has its own channel field.
        var version = BinaryPrimitives.ReadUInt16BigEndian(entry[16..]);
        var start = Math.Min(entry.Length, version switch { 1 => SoundEntry + 16, 2 => SoundEntry + 36, _ => SoundEntry });
        int? channels = version == 2 && entry.Length >= 52
            ? (int)Math.Min(BinaryPrimitives.ReadUInt32BigEndian(entry[48..]), ushort.MaxValue)
            : BinaryPrimitives.ReadUInt16BigEndian(entry[24..]);
        var inner = entry[start..];
        var codec = Mp4Codec.OfSound(CodeOf(entry, inner), inner);
        channels = codec.Channels ?? (channels == 0 ? null : channels);
        return new MediaTrack(TrackKind.Audio, codec.WithChannels(channels), codec.Type) { Channels = channels };
    }

    /// <summary>Returns a subtitle track; null for QuickTime "text", because it holds chapter names that no player shows.</summary>
    private static MediaTrack? Text(string code) => code switch
    {
        "text" => null,
        "tx3g" => Text("Timed text", SubtitleForm.Text) with { Source = new TextSource(TextFormat.Timed, 0) },
        "wvtt" => Text("WebVTT", SubtitleForm.Other),
        "stpp" => Text("TTML", SubtitleForm.Other),
        "c608" or "c708" => Text("Closed captions", SubtitleForm.Other),
        "mp4s" => Text("VobSub", SubtitleForm.Picture),
        _ => Text(code, SubtitleForm.Other),
    };

    private static MediaTrack Text(string codec, SubtitleForm form) => new(TrackKind.Subtitle, codec, null) { Form = form };

    /// <summary>Returns the code of an entry; for an encrypted entry the original code (section 8.12).</summary>
    private static string CodeOf(ReadOnlySpan<byte> entry, ReadOnlySpan<byte> inner)
    {
        var code = HeaderText.CodeOf(entry[4..]);
        if (code is not ("encv" or "enca"))
            return code;
        var original = Mp4Boxes.Find(Mp4Boxes.Find(inner, "sinf"u8), "frma"u8);
        return original.Length >= 4 ? HeaderText.CodeOf(original) : code;
    }
}
