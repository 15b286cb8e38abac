using Sluice.Testing;
using Sluice.Usenet.Tests.Archives;
using Sluice.Usenet.Tests.Nntp;
using Sluice.Usenet.Tests.Nzb;
using Sluice.Usenet.Tests.Streams;
using Sluice.Usenet.Tests.Tester;
using Xunit;

[assembly: AssemblyFixture(typeof(UnobservedExceptions))]
[assembly: TestCollectionOrderer(typeof(LongestFirst))]
[assembly: Takes(typeof(TesterDamageTests), 98)]
[assembly: Takes(typeof(TesterVerifiedDamageTests), 91)]
[assembly: Takes(typeof(FaultMatrixTests), 87)]
[assembly: Takes(typeof(FaultGateTests), 62)]
[assembly: Takes(typeof(IdleConnectionTests), 40)]
[assembly: Takes(typeof(UselessReplyTests), 38)]
[assembly: Takes(typeof(ArchiveMutationTests), 37)]
[assembly: Takes(typeof(PoolModelTests), 35)]
[assembly: Takes(typeof(TesterRunTests), 31)]
[assembly: Takes(typeof(MissingVerdictTests), 30)]
[assembly: Takes(typeof(HangingProviderTests), 27)]
[assembly: Takes(typeof(ClosedSocketTests), 27)]
[assembly: Takes(typeof(BackgroundShareTests), 26)]
[assembly: Takes(typeof(HedgeTests), 22)]
[assembly: Takes(typeof(TesterLayoutTests), 17)]
[assembly: Takes(typeof(SocketCapTests), 16)]
[assembly: Takes(typeof(CorruptArticleTests), 13)]
[assembly: Takes(typeof(RarMutationTests), 13)]
[assembly: Takes(typeof(NzbMutationTests), 13)]
[assembly: Takes(typeof(TlsPolicyFaultTests), 11)]
[assembly: Takes(typeof(MissInStepTests), 11)]
[assembly: Takes(typeof(ServerModeTests), 11)]
