namespace Sluice.Usenet.Media;

/// <summary>What a file is by its first bytes.</summary>
public enum MediaKind
{
    /// <summary>Nothing that is known here.</summary>
    Unknown,

    /// <summary>Matroska.</summary>
    Matroska,

    /// <summary>WebM: Matroska with its own document type.</summary>
    WebM,

    /// <summary>MP4 and its relatives (ISO base media).</summary>
    Mp4,

    /// <summary>MP4 that declares itself as audio.</summary>
    Mp4Audio,

    /// <summary>QuickTime.</summary>
    QuickTime,

    /// <summary>AVI.</summary>
    Avi,

    /// <summary>MPEG transport stream, packets of 188 or 192 bytes.</summary>
    TransportStream,

    /// <summary>MPEG program stream, or a bare MPEG video stream.</summary>
    ProgramStream,

    /// <summary>ASF: WMV or WMA.</summary>
    Asf,

    /// <summary>Flash video.</summary>
    FlashVideo,

    /// <summary>RealMedia.</summary>
    RealMedia,

    /// <summary>MP3.</summary>
    Mp3,

    /// <summary>FLAC.</summary>
    Flac,

    /// <summary>Ogg.</summary>
    Ogg,

    /// <summary>WAV.</summary>
    Wave,

    /// <summary>AIFF.</summary>
    Aiff,

    /// <summary>Monkey's Audio.</summary>
    MonkeysAudio,

    /// <summary>WavPack.</summary>
    WavPack,

    /// <summary>DSD stream file.</summary>
    Dsd,

    /// <summary>SubRip subtitles.</summary>
    SubRip,

    /// <summary>Advanced SubStation subtitles.</summary>
    SubStation,

    /// <summary>WebVTT subtitles.</summary>
    WebVtt,

    /// <summary>JPEG.</summary>
    Jpeg,

    /// <summary>PNG.</summary>
    Png,

    /// <summary>GIF.</summary>
    Gif,

    /// <summary>WebP.</summary>
    WebP,

    /// <summary>RAR 1.5 to 4.</summary>
    Rar4,

    /// <summary>RAR 5 and 7.</summary>
    Rar5,

    /// <summary>7z; only its first volume shows it.</summary>
    SevenZip,

    /// <summary>zip.</summary>
    Zip,

    /// <summary>gzip.</summary>
    Gzip,

    /// <summary>tar.</summary>
    Tar,

    /// <summary>PAR2, index or volume.</summary>
    Par2,

    /// <summary>ISO 9660 or UDF image; takes 36 KiB to be seen.</summary>
    DiscImage,

    /// <summary>NZB.</summary>
    Nzb,

    /// <summary>Any other XML.</summary>
    Xml,
}

/// <summary>How an import treats the files of a <see cref="MediaKind"/>.</summary>
public enum MediaCategory
{
    /// <summary>Published as it is, but nothing to play.</summary>
    Other,

    /// <summary>Something to watch.</summary>
    Video,

    /// <summary>Something to listen to.</summary>
    Audio,

    /// <summary>Holds other files.</summary>
    Archive,

    /// <summary>Repairs other files.</summary>
    Par2,
}
