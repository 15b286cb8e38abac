namespace Sluice.Usenet.Media;

/// <summary>The kind of a file, detected from its first bytes.</summary>
public enum MediaKind
{
    Unknown,

    Matroska,

    /// <summary>WebM: Matroska with its own document type.</summary>
    WebM,

    /// <summary>MP4 and relatives (ISO base media).</summary>
    Mp4,

    Mp4Audio,

    QuickTime,

    Avi,

    /// <summary>MPEG transport stream, packets of 188 or 192 bytes.</summary>
    TransportStream,

    /// <summary>MPEG program stream, or a bare MPEG video stream.</summary>
    ProgramStream,

    /// <summary>ASF: WMV or WMA.</summary>
    Asf,

    FlashVideo,

    RealMedia,

    Mp3,

    Flac,

    Ogg,

    Wave,

    Aiff,

    MonkeysAudio,

    WavPack,

    Dsd,

    SubRip,

    /// <summary>Advanced SubStation subtitles.</summary>
    SubStation,

    WebVtt,

    Jpeg,

    Png,

    Gif,

    WebP,

    /// <summary>RAR 1.5 to 4.</summary>
    Rar4,

    /// <summary>RAR 5 and 7.</summary>
    Rar5,

    /// <summary>7z; later volumes are Unknown, because only the first has a signature.</summary>
    SevenZip,

    Zip,

    Gzip,

    Tar,

    /// <summary>PAR2, index or volume.</summary>
    Par2,

    /// <summary>ISO 9660 or UDF image. Detection needs 36 KiB, because the descriptor follows 32 KiB of reserved space.</summary>
    DiscImage,

    Nzb,

    Xml,
}

/// <summary>How an import treats a <see cref="MediaKind"/>.</summary>
public enum MediaCategory
{
    /// <summary>Published unchanged, but not playable.</summary>
    Other,

    Video,

    Audio,

    Archive,

    Par2,
}
