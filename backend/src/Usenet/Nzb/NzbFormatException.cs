namespace Sluice.Usenet.Nzb;

/// <summary>The input is no NZB that can be used; no other exception reports the content of an NZB.</summary>
public sealed class NzbFormatException : FormatException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="fault">Which kind of refusal.</param>
    /// <param name="detail">What was detected, or which limit was exceeded: a few words that fit into brackets.</param>
    /// <param name="inner">What the XML reader or the decompressor said, if anything.</param>
    public NzbFormatException(NzbFault fault, string detail, Exception? inner = null)
        : base(Sentence(fault, detail), inner)
    {
        Fault = fault;
        Detail = detail;
    }

    /// <summary>Which kind of refusal.</summary>
    public NzbFault Fault { get; }

    /// <summary>What was detected, or which limit was exceeded. Never empty; holds nothing of the input but an element name.</summary>
    public string Detail { get; }

    private static string Sentence(NzbFault fault, string detail) => fault switch
    {
        NzbFault.Empty => "The NZB lists no usable articles.",
        NzbFault.TooLarge => $"The NZB is larger than the limits allow ({detail}).",
        _ => $"The file is not an NZB ({detail}).",
    };
}
