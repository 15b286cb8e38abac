namespace Sluice.Usenet.Nzb;

/// <summary>A stored list of message-ids is damaged or is no such list; the release has to be added again.</summary>
public sealed class MessageIdListException(string message) : IOException(message);
