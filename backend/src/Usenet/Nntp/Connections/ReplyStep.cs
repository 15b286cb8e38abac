namespace Sluice.Usenet.Nntp;

/// <summary>What has to come next for a pending reply that has been given a line.</summary>
internal enum ReplyStep
{
    /// <summary>Nothing: the reply has ended.</summary>
    End,

    /// <summary>A further line, the answer to the next of its commands.</summary>
    Line,

    /// <summary>A body up to its terminating line.</summary>
    Body,
}
