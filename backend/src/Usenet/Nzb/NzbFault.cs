namespace Sluice.Usenet.Nzb;

/// <summary>Why an NZB cannot be used.</summary>
public enum NzbFault
{
    /// <summary>The input is something else, or XML that breaks off or is malformed.</summary>
    NotAnNzb,

    /// <summary>It lists no usable article.</summary>
    Empty,

    /// <summary>It exceeds one of <see cref="NzbLimits"/>.</summary>
    TooLarge,
}
