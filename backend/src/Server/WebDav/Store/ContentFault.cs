namespace Sluice.Server.WebDav;

/// <summary>Why bytes of a file cannot be had.</summary>
internal enum ContentFault
{
    /// <summary>The cause may pass: 503 before the headers.</summary>
    Transient,

    /// <summary>They are proved gone or corrupt everywhere: 410 before the headers.</summary>
    Gone,
}
