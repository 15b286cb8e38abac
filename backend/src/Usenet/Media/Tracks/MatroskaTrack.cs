namespace Sluice.Usenet.Media.Tracks;

/// <summary>Parses one <c>TrackEntry</c> of a Matroska file (RFC 9559 section 5.1.4.1). Pure.</summary>
internal static class MatroskaTrack
{
    // The default language is English, section 5.1.4.1.19.
    private const string DefaultLanguage = "eng";

    // Longer than any header that text blocks could share.
    private const int MaxStrippedHead = 256;

    /// <summary>Parses an entry; null unless it is video, audio or subtitles.</summary>
    public static MediaTrack? Read(ReadOnlySpan<byte> entry)
    {
        var (type, isDefault, isForced, describesSounds) = (0UL, true, false, false);
        var (language, codec) = (DefaultLanguage, "");
        string? title = null;

        // The BCP 47 language, which takes precedence over the older element (RFC 9559 section 5.1.4.1.20).
        string? precise = null;
        ReadOnlySpan<byte> setup = [];
        ReadOnlySpan<byte> picture = [];
        ReadOnlySpan<byte> sound = [];
        ReadOnlySpan<byte> encodings = [];
        var number = 0UL;
        var elements = new EbmlElements(entry);
        while (elements.Next())
        {
            switch (elements.Id)
            {
                case 0xD7:
                    number = EbmlHead.Number(elements.Content);
                    break;
                case 0x6D80:
                    encodings = elements.Content;
                    break;
                case 0x83:
                    type = EbmlHead.Number(elements.Content);
                    break;
                case 0x88:
                    isDefault = EbmlHead.Number(elements.Content) != 0;
                    break;
                case 0x55AA:
                    isForced = EbmlHead.Number(elements.Content) != 0;
                    break;
                case 0x55AB:
                    describesSounds = EbmlHead.Number(elements.Content) != 0;
                    break;
                case 0x536E:
                    title = HeaderText.Of(elements.Content);
                    break;
                case 0x22B59C:
                    language = HeaderText.Of(elements.Content) ?? language;
                    break;
                case 0x22B59D:
                    precise = HeaderText.Of(elements.Content);
                    break;
                case 0x86:
                    codec = HeaderText.Of(elements.Content) ?? "";
                    break;
                case 0x63A2:
                    setup = elements.Content;
                    break;
                case 0xE0:
                    picture = elements.Content;
                    break;
                case 0xE1:
                    sound = elements.Content;
                    break;
                default:
                    break;
            }
        }

        var shared = new MediaTrack(TrackKind.Subtitle, "", null)
        {
            Language = HeaderText.LanguageOf(precise ?? language),
            Title = title,
            IsDefault = isDefault,
            IsForced = isForced,
            DescribesSounds = describesSounds,
        };
        return type switch
        {
            1 => Picture(shared, MatroskaCodec.OfPicture(codec, setup), picture),
            2 => Sound(shared, MatroskaCodec.OfSound(codec, setup), sound),
            0x11 => Text(shared, codec, number, encodings),
            _ => null,
        };
    }

    private static MediaTrack Text(MediaTrack shared, string codec, ulong number, ReadOnlySpan<byte> encodings)
    {
        var source = MatroskaCodec.FormatOf(codec) is { } format && number > 0 ? Encode(new TextSource(format, number), encodings) : null;
        var form = source is not null ? SubtitleForm.Text : MatroskaCodec.IsPicture(codec) ? SubtitleForm.Picture : SubtitleForm.Other;
        return shared with { Codec = MatroskaCodec.OfText(codec), Form = form, Source = source };
    }

    /// <summary>
    /// Reads <c>ContentEncodings { ContentEncoding { ContentCompression { ContentCompAlgo, ContentCompSettings } } }</c>, section 5.1.4.1.31. Null if blocks
    /// are encrypted, or compressed by other means than zlib or header stripping.
    /// </summary>
    private static TextSource? Encode(TextSource source, ReadOnlySpan<byte> encodings)
    {
        var list = new EbmlElements(encodings);
        for (var count = 0; list.Next(); count++)
        {
            if (list.Id != 0x6240 || count > 0)
                return null;
            var (isCompression, algorithm) = (false, 0UL);
            ReadOnlySpan<byte> settings = [];
            var encoding = new EbmlElements(list.Content);
            while (encoding.Next())
            {
                if (encoding.Id is 0x5033 && EbmlHead.Number(encoding.Content) != 0)
                    return null;
                if (encoding.Id != 0x5034)
                    continue;
                isCompression = true;
                var parts = new EbmlElements(encoding.Content);
                while (parts.Next())
                {
                    if (parts.Id == 0x4254)
                        algorithm = EbmlHead.Number(parts.Content);
                    else if (parts.Id == 0x4255)
                        settings = parts.Content;
                }
            }

            if (!isCompression || algorithm is not (0 or 3) || settings.Length > MaxStrippedHead)
                return null;
            source = algorithm == 0 ? source with { IsDeflated = true } : source with { StrippedHead = settings.ToArray() };
        }

        return source;
    }

    private static MediaTrack Picture(MediaTrack shared, CodecWord codec, ReadOnlySpan<byte> bytes)
    {
        int? width = null, height = null;
        var elements = new EbmlElements(bytes);
        while (elements.Next())
        {
            if (elements.Id == 0xB0)
                width = Small(EbmlHead.Number(elements.Content));
            else if (elements.Id == 0xBA)
                height = Small(EbmlHead.Number(elements.Content));
        }

        return shared with { Kind = TrackKind.Video, Codec = codec.Name, Type = codec.Type, Width = width, Height = height };
    }

    private static MediaTrack Sound(MediaTrack shared, CodecWord codec, ReadOnlySpan<byte> bytes)
    {
        int? channels = 1;
        var elements = new EbmlElements(bytes);
        while (elements.Next())
        {
            if (elements.Id == 0x9F)
                channels = Small(EbmlHead.Number(elements.Content));
        }

        channels = codec.Channels ?? channels;
        return shared with { Kind = TrackKind.Audio, Codec = codec.WithChannels(channels), Type = codec.Type, Channels = channels };
    }

    private static int? Small(ulong number) => number is > 0 and <= ushort.MaxValue ? (int)number : null;
}
